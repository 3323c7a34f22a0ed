"use strict";
const colours = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8A7A00", "#777777"];
for (const token of document.querySelectorAll("[data-colour]")) token.style.setProperty("--c", colours[token.dataset.colour]);

for (const sentence of document.querySelectorAll(".sentence")) {
  const tokens = [...sentence.querySelectorAll(".token")].map(element => ({ element, links: element.dataset.links.split(" ").filter(Boolean) }));
  const show = event => {
    const here = tokens.find(token => token.element === event.target.closest(".token"));
    sentence.classList.toggle("active", Boolean(here && here.links.length));
    for (const token of tokens) token.element.classList.toggle("on", Boolean(here) && (token === here || token.links.some(link => here.links.includes(link))));
  };
  const clear = () => { sentence.classList.remove("active"); for (const token of tokens) token.element.classList.remove("on"); };
  sentence.addEventListener("mouseover", show);
  sentence.addEventListener("focusin", show);
  sentence.addEventListener("mouseleave", clear);
  sentence.addEventListener("focusout", clear);
}

const search = document.getElementById("search");
if (search) {
  const pieces = JSON.parse(document.getElementById("all-pieces").textContent);
  const body = document.querySelector("#pieces tbody");
  const found = document.getElementById("found");
  const cell = (text, kind = "") => { const td = document.createElement("td"); td.textContent = text; td.className = kind; return td; };
  const filter = () => {
    const wanted = search.value.toLowerCase();
    const hits = pieces.filter(([piece, , near]) => !wanted || piece.toLowerCase().includes(wanted) || near.some(([token]) => token.toLowerCase().includes(wanted)));
    body.replaceChildren(...hits.slice(0, 200).map(([piece, count, near]) => {
      const row = document.createElement("tr");
      row.append(cell(piece), cell(count.toLocaleString("en"), "number"), cell(near.map(([token, p]) => `${token} (${p.toFixed(2)})`).join(", ")));
      return row;
    }));
    found.textContent = `${hits.length.toLocaleString("en")} of ${pieces.length.toLocaleString("en")} pieces` + (hits.length > 200 ? ", the first 200 shown" : "");
  };
  search.addEventListener("input", filter);
  filter();
}

// Contents: open beside the text, folded in the bar of a small window; they tell where one is.
const contents = document.querySelector("nav details");
const wide = matchMedia("(min-width: 72rem)");
const fold = () => { contents.open = wide.matches; };
wide.addEventListener("change", fold);
fold();
const links = [...contents.querySelectorAll("a")];
for (const link of links) link.addEventListener("click", fold);
const here = () => {
  const passed = links.filter(link => document.querySelector(link.hash).getBoundingClientRect().top < 100);
  for (const link of links) link.toggleAttribute("aria-current", link === (passed.at(-1) ?? links[0]));
};
addEventListener("scroll", here, { passive: true });
addEventListener("resize", here);
here();

// A table that is wider than its box says so, and can be scrolled with the keyboard.
for (const box of document.querySelectorAll(".scroll")) {
  const more = document.createElement("p");
  more.className = "more";
  more.textContent = "Scroll sideways for the rest →";
  box.before(more);
  const look = () => {
    const wider = box.scrollWidth > box.clientWidth + 1;
    more.hidden = !wider;
    if (wider || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  new ResizeObserver(look).observe(box);
  for (const table of box.children) new ResizeObserver(look).observe(table);
}

// On paper nothing can be unfolded.
const folded = [];
addEventListener("beforeprint", () => {
  for (const difference of document.querySelectorAll("details.difference:not([open])")) {
    difference.open = true;
    folded.push(difference);
  }
});
addEventListener("afterprint", () => { for (const difference of folded.splice(0)) difference.open = false; });
