// What is wrong with a page: a list of texts, empty if nothing is.
() => {
  const faults = [];
  const whole = document.documentElement;
  if (whole.scrollWidth > window.innerWidth) faults.push(`the page is ${whole.scrollWidth} wide`);

  const channels = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const color = channels(getComputedStyle(element).backgroundColor);
    return color[3] === 1 ? color.slice(0, 3) : over(color, behind(element.parentElement));
  };
  const light = (color) => {
    const [r, g, b] = color.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };

  for (const root of document.querySelectorAll(".discreet, .discreet-report")) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const element = node.parentElement;
      if (element.closest("style") || !element.checkVisibility() || !node.data.trim()) continue;
      const style = getComputedStyle(element);
      const paper = behind(element);
      const ink = channels(element.closest("svg") ? style.fill : style.color);
      const seen = contrast(over(ink, paper), paper);
      if (seen < 4.5) faults.push(`"${node.data}" has a contrast of ${seen.toFixed(1)}`);
      const cell = element.closest("td, th")?.getBoundingClientRect();
      for (const word of node.data.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
        if (lines.size > 1 && word[0].length < 24) faults.push(`"${word[0]}" is broken`);
        const box = range.getBoundingClientRect();
        if (cell && (box.left < cell.left - 1 || box.right > cell.right + 1)) faults.push(`"${word[0]}" leaves its cell`);
      }
    }
  }
  return faults;
}
