(() => {
  const tip = document.getElementById("tip");
  let near = null;
  const show = (element, x, y) => {
    if (near) near.classList.remove("near");
    near = null;
    tip.hidden = !element;
    if (!element) return;
    if (element.classList.contains("dot")) (near = element).classList.add("near");
    tip.textContent = element.dataset.tip;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(x - box.width / 2, 6), document.documentElement.clientWidth - box.width - 6);
    const above = y - box.height - 14;
    tip.style.left = left + "px";
    tip.style.top = (above < 6 ? y + 18 : above) + "px";
  };
  const nearest = (plot, x) => {
    let found = null, least = 24;
    for (const dot of plot.querySelectorAll(".dot")) {
      const box = dot.getBoundingClientRect();
      const away = Math.abs(box.x + box.width / 2 - x);
      if (away < least) [found, least] = [dot, away];
    }
    return found;
  };
  const look = (event) => {
    const on = event.target.closest("[data-tip]");
    const plot = event.target.closest(".plot");
    if (plot && !(on && on.classList.contains("dot"))) {
      const dot = nearest(plot, event.clientX);
      if (dot) {
        const box = dot.getBoundingClientRect();
        return show(dot, box.x + box.width / 2, box.y);
      }
    }
    show(on, event.clientX, event.clientY);
  };
  document.addEventListener("pointermove", look);
  document.addEventListener("pointerdown", look);
  document.addEventListener("scroll", () => show(null), true);
})();
