// Where the reader is: marks the current section in the contents, and gives sections a link.
(function (Article) {
  "use strict";

  /** @type {HTMLElement[]} */
  const headings = [];

  /** @returns {string} id of the section being read, or nothing above the first */
  function current() {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    return passed.at(-1)?.id ?? "";
  }

  /** @param {HTMLElement} contents */
  function mount(contents) {
    const mark = () => {
      const id = current();
      for (const link of contents.querySelectorAll("a")) {
        link.ariaCurrent = Article.state.parse(link.hash).section === id ? "location" : null;
      }
    };
    addEventListener("scroll", mark); // once a frame
    requestAnimationFrame(mark);
  }

  /** @param {HTMLElement} heading */
  function mountHeading(heading) {
    headings.push(heading);
    const name = Article.text("heading_link");
    heading.append(Article.make("a", { className: "heading-link", href: `#${heading.id}`, ariaLabel: name }, "#"));
  }

  Article.contents = { mount, mountHeading, current };
})((window.Article ??= {}));
