// What tests ask of a page that is drawn; `new_context` puts it into every tab, before a page's own scripts.

{
  // What Streamlit fades and pulses is done at once. Else Chromium draws 60 pictures a second, which takes it longer than
  // all else. Neither views nor what scripts move are reached.
  const still = new CSSStyleSheet();
  still.replaceSync(`*, ::before, ::after {
    animation-duration: 1ms !important;
    animation-iteration-count: 1 !important;
    transition-duration: 1ms !important;
  }`);
  document.adoptedStyleSheets.push(still);

  const main = () => document.querySelector("[data-testid=stMain]");

  /** All elements below a root, those inside views too. */
  const inside = (root, those = "*") =>
    [...root.querySelectorAll(those)].flatMap((node) => [node, ...(node.shadowRoot ? inside(node.shadowRoot) : [])]);

  /** The same without those of the header. */
  const below = (root) => inside(root, ":not(.st-key-header *)");

  globalThis.looks = {
    /** What reaches beyond the right edge of the screen; nothing where the page cannot be scrolled sideways. */
    wider() {
      if ([document.documentElement, main()].every((node) => node.scrollWidth <= node.clientWidth + 1)) return [];
      const reaches = (node) => node.getBoundingClientRect().right > main().clientWidth + 1;
      const wide = [...main().querySelectorAll("*")].filter(reaches);
      return ["the page", ...wide.map((node) => node.outerHTML.slice(0, 120))];
    },

    /** What is smaller than 24 pixels. Links within a text are as high as its letters; a box is hit by its label, too. */
    hardToHit() {
      const kinds = `button, a[href], summary, input, select, textarea, [role=tab], [role=slider], [role=button],
        [role=option], [role=combobox]`;
      const isInText = (node) => node.matches("a") && node.parentElement.textContent.trim() !== node.textContent.trim();
      return inside(document.body)
        .filter((node) => {
          if (!node.matches(kinds) || node.disabled || isInText(node)) return false;
          if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
          const whole = ".stCheckbox, .stMultiSelect, .stSlider [data-rac]:has(> div > input)";
          const hit = node.matches("input") && (node.closest(whole) ?? node.closest("label:has([type=checkbox])"));
          const { width, height, right } = (hit || node).getBoundingClientRect();
          const isClipped = width <= 1 || height <= 1 || right < 0;
          return !isClipped && (width < 23.9 || height < 23.9);
        })
        .map((node) => {
          const { width, height } = node.getBoundingClientRect();
          return `${Math.round(width)} x ${Math.round(height)}: ${node.outerHTML.slice(0, 140)}`;
        });
    },

    /** Buttons of our views that lie to those who use the keyboard or a screen reader: of buttons that arrow keys walk
     * through Tab reaches one, of those that exclude each other one is pressed, and what can be reached has a name. */
    misled() {
      const named = ({ ariaLabel, title, textContent, labels, ariaLabelledByElements: by }) =>
        ariaLabel || title || textContent.trim() || labels?.length || by?.length;
      const [faults, groups] = [[], new Map()];
      for (const node of inside(document.body)) {
        const group = node.parentElement?.closest(":not(.layer)");
        if (!group || group.matches("[class*=st-emotion-]")) continue; // a control of Streamlit's
        const isView = node.getRootNode() !== document;
        if (node.matches("button")) groups.set(group, [...(groups.get(group) ?? []), node]);
        if (isView && node.tabIndex > 0) faults.push(`comes before all others: ${node.outerHTML.slice(0, 120)}`);
        const isReached =
          isView && node.matches("button, a[href], input, select, [tabindex]") && node.checkVisibility();
        if (isReached && !named(node)) faults.push(`has no name: ${node.outerHTML.slice(0, 120)}`);
      }
      for (const [group, buttons] of groups) {
        const walked = buttons.filter((node) => node.hasAttribute("tabindex"));
        const stops = walked.filter((node) => node.tabIndex === 0).length;
        if (walked.length > 1 && stops !== 1) faults.push(`Tab reaches ${stops}: ${group.outerHTML.slice(0, 120)}`);
        const pressed = buttons.filter((node) => node.ariaPressed === "true").length;
        if (pressed > 1 && !group.matches(".sentence, .tiles"))
          faults.push(`${pressed} are pressed: ${group.className}`);
      }
      return faults;
    },

    /** Rows of tabs that are not seen whole. */
    cutTabs: () =>
      [...document.querySelectorAll("[role=tablist]")]
        .filter((list) => list.checkVisibility() && list.scrollWidth > list.clientWidth)
        .map((list) => list.innerText),

    /** Where the first picture, table or shaded sentence begins, in pixels; null while there is none. */
    first() {
      const tops = below(main())
        .filter((node) => node.matches("canvas, svg, table, [data-testid=stCode], .bars, .strip"))
        .map((node) => node.getBoundingClientRect())
        .filter((box) => box.width > 140 && box.height > 40)
        .map((box) => box.top);
      return tops.length ? Math.round(Math.min(...tops)) : null;
    },

    /** On a phone, where controls are of one tab. */
    figureBeforeControls(lines) {
      const [first, all] = [looks.first(), [...document.querySelectorAll(lines)]];
      return first !== null && all.length && all.every((line) => first < line.getBoundingClientRect().top);
    },

    /** On a phone, where they say what the whole page is about: below all figures of a long page nobody would find them.
     * The figure still begins in sight. */
    controlsBeforeFigure(lines) {
      const [first, { bottom }] = [looks.first(), document.querySelector(lines).getBoundingClientRect()];
      return first !== null && bottom <= first && first < (844 * 2) / 3;
    },

    /** All text in letters below a limit, with their size: on canvases (see `written.js`), in charts, in the views and
     * between them. */
    small(limit) {
      const small = {};
      const texts = [...drawnTexts].flatMap(([canvas, written]) => (canvas.isConnected ? written : []));
      for (const { text, size } of texts) if (size < limit - 0.05) small[text] = size;
      for (const node of below(main())) {
        const says = [...node.childNodes].some(
          (child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim(),
        );
        const { width, height } = node.getBoundingClientRect();
        const { visibility, fontSize } = getComputedStyle(node);
        const isSeen = width > 1 && height > 1 && visibility === "visible" && !node.matches("style, script, option");
        if (says && isSeen && Number.parseFloat(fontSize) < limit - 0.1)
          small[node.textContent.trim().slice(0, 40)] = fontSize;
      }
      return small;
    },

    /** What is wrong with the letters on a page's canvases, in sentences, and which of the keys have no numbers. */
    faults([limit, keys, smallest]) {
      const ofTokens = new Set(["query", "key", "token", "source", "writes", "reads → writes"]);
      const titles = new Set([...ofTokens, "← query (attending)"]);
      const [faults, numbered, ruler] = [[], new Set(), document.createElement("canvas").getContext("2d")];
      const keyOf = (root) => /st-key-([\w-]+)/.exec(root.host?.closest("[class*=st-key-]")?.className ?? "")?.[1];
      const faultsOf = ({ picture: { texts, rows, columns, square }, place, colours, node }, written, key) => {
        const { corners, wide, high } = place;
        const [{ x, y }] = corners;
        const across = corners.filter((one) => one.y === y).length;
        const between = across > 1 ? corners[1].x - x - wide * columns.count : 0;
        ruler.font = `${limit}px ${colours.font}`;
        const widest = Math.max(...texts.flat().map((text) => ruler.measureText(text).width));
        const room = ((node.clientWidth - x + between) / across - between) / columns.count - 4; // what a number may take
        if (widest > room || (square && limit > room)) return; // it cannot be
        for (const [row, line] of texts.entries())
          for (const [column, text] of line.entries()) {
            const corner = corners[Math.floor(row / rows.count)]; // matrices stand one under another in the texts
            const [left, top] = [corner.x + column * wide, corner.y + (row % rows.count) * high];
            const isIn = (one) => one.x > left && one.x < left + wide && one.y > top && one.y < top + high;
            const found = written.find((one) => one.text === text && isIn(one));
            if (text.trim() && !found) faults.push(`${key}, row ${row}, column ${column}: ${text} is not drawn`);
            else if (found && found.size < limit - 0.05) faults.push(`${key}: ${text} has ${found.size} pixels`);
            else if (found && (found.width > wide || found.size > high)) faults.push(`${key}: ${text} leaves its cell`);
          }
      };
      for (const canvas of below(document.body).filter((node) => node.matches("canvas") && node.checkVisibility())) {
        const root = canvas.getRootNode();
        const [written, key, view] = [drawnTexts.get(canvas) ?? [], keyOf(root), root.view_];
        const axes = view?.picture?.rows ? [view.picture.rows.title, view.picture.columns.title] : [];
        for (const { text, size, isUpright } of written) {
          if (size < smallest - 0.05) faults.push(`${key}: ${text} has ${size} pixels`);
          if (isUpright && !titles.has(text) && text !== axes[0]) faults.push(`${key}: ${text} stands upright`);
        }
        const { wide, high } = view?.place ?? {};
        if (axes.length && axes.every((title) => ofTokens.has(title)) && Math.abs(wide - high) > 0.5)
          faults.push(`${key}: cells measure ${wide} × ${high}`);
        if (view && view.width !== view.node.clientWidth) faults.push(`${key} has not its width yet`);
        if (view?.picture?.texts) {
          numbered.add(key);
          faultsOf(view, written, key);
        } else if (written.some(({ text }) => /^[−]?[0-9]*\.[0-9]+$|^−∞$/.test(text))) numbered.add(key);
      }
      return [...faults, ...keys.filter((key) => !numbered.has(key)).map((key) => `${key} has no numbers`)];
    },

    /** What of the header lies on its neighbour, in another line or out of the window. */
    crowded() {
      const parts = inside(document.querySelector(".st-key-header"))
        .filter((node) => node.matches("button, a, h1") && !node.querySelector("h1") && node.checkVisibility())
        .map((node) => ({ name: node.textContent.trim() || node.ariaLabel, box: node.getBoundingClientRect() }))
        .sort((one, other) => one.box.left - other.box.left);
      const line = parts[0].box;
      return parts
        .filter(({ box }, n) => {
          const isInLine = box.top < line.bottom && line.top < box.bottom && box.top >= 0;
          const isFree = box.left >= (n && parts[n - 1].box.right - 0.5) && box.right <= innerWidth;
          return !isInLine || !isFree;
        })
        .map(({ name, box }) => `${name}: ${box.left} to ${box.right}, ${box.top} to ${box.bottom}`);
    },

    /** How the parts of a page are laid out: all but sizes, which larger letters change. */
    layout: () =>
      [...document.querySelectorAll(".stMain :is([class*=st-key-], [role=tab], .stElementContainer)")]
        .filter((node) => !node.closest(".st-key-header") && !node.querySelector(":scope > .stHtml > .hides"))
        .map((node) => {
          const { order, display, position, flexDirection } = getComputedStyle(node);
          const name = node.className.match(/st-key-[\w-]+/)?.[0] ?? node.textContent.slice(0, 30);
          return [name, order, display, position, flexDirection, node.checkVisibility()].join();
        }),

    /** Of the elements with these keys, those that lie on a later one. */
    overlapping(keys) {
      const boxes = keys.map((key) => document.querySelector(`.st-key-${key}`).getBoundingClientRect());
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      return keys.filter((_, n) => boxes.some((box, other) => other > n && meet(boxes[n], box)));
    },

    /** The values of boxes, found by a selector, that are wider than their box. */
    cut: (boxes) =>
      [...document.querySelectorAll(boxes)]
        .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth)
        .map((box) => `${box.ariaLabel}: ${box.value}`),

    /** The words of bars that lie on their bar, or whose bar is not seen. */
    covered: () =>
      inside(document.body)
        .filter((node) => node.matches(".bars li"))
        .filter((row) => {
          const [word, bar] = [row.querySelector(".label"), row.querySelector(".length")];
          const isCut = getComputedStyle(word).overflow === "hidden";
          return bar.offsetWidth === 0 || (word.scrollWidth > word.clientWidth && !isCut);
        })
        .map((row) => row.textContent),

    /** Numbers in tables that do not end at the right of their column. */
    ragged: () =>
      inside(document.body)
        .filter((cell) => cell.matches(".counts table tbody td:not(.bar)"))
        .filter((cell) => /^[-−+]?[0-9.,]+%?$/.test(cell.textContent) && getComputedStyle(cell).textAlign !== "right")
        .map((cell) => cell.textContent),

    /** Of each low table: whether a row is cut through, how many are out of sight, and how many it says are. */
    low: () =>
      inside(document.body)
        .filter((node) => node.matches(".low"))
        .map((scroller) => {
          const { bottom } = scroller.getBoundingClientRect();
          const rows = [...scroller.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect());
          const isCut = rows.some((row) => row.top < bottom - 1 && row.bottom > bottom + 1);
          const hidden = rows.filter((row) => row.bottom > bottom + 1).length;
          return [isCut, hidden, Number.parseInt(scroller.nextSibling.textContent, 10)];
        }),

    /** Whether a part of a figure stands in the window above a lecture's line, in letters of some pixels; a figure, or as
     * much of it as fits. */
    isShown([least, key, ...names]) {
      const found = tfmvizWhere(key, ...names);
      if (!found) return false;
      const upper = document.querySelector(".st-key-header")?.getBoundingClientRect().bottom ?? 0;
      const lower = document.querySelector(".st-key-lecture").getBoundingClientRect().top;
      const { left, top, width, height, letters } = found;
      const needed = names.length ? height : Math.min(height, 0.9 * (lower - upper));
      const drawn = Math.min(top + height, lower) - Math.max(top, upper);
      const isWide = left >= 0 && left + width <= innerWidth;
      return isWide && drawn >= needed - 1 && (!names.length || !letters || letters >= least);
    },
  };
}
