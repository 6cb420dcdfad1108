// Content that its container cuts off and that nobody can scroll to: a list of texts, empty if there is none.
() => {
  const cut = [];
  for (const element of document.querySelectorAll("main *, .bar-top *, footer")) {
    if (!element.checkVisibility() || element.closest("svg, select, option, thead") || element.matches("input, meter")) continue;
    const style = getComputedStyle(element);
    const hides = /hidden|clip/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    const scrolls = /auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    const named = `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 30)}"`;
    if (hides) cut.push(`${named} is cut`);
    if (scrolls && element.tabIndex < 0) cut.push(`${named} scrolls, and not by keyboard`);
    const box = element.getBoundingClientRect();
    const holder = element.parentElement.closest(".scroll, pre");
    if (!holder && box.width > 0 && box.right > window.innerWidth + 1) cut.push(`${named} leaves the page`);
  }
  return cut;
}
