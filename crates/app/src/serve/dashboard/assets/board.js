// Makes the dashboard live. Everything is there without it; nothing is remembered here but what is on the page.

const body = document.body;
const REFRESH = 5_000; // fragments are asked for again so often, at most
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

// Numbers that come every second.

const numbers = new Map();
const findNumbers = () => {
  numbers.clear();
  for (const place of document.querySelectorAll("[data-n]")) {
    const name = place.dataset.n;
    if (!numbers.has(name)) numbers.set(name, []);
    numbers.get(name).push(place);
  }
};

const show = (pulse) => {
  for (const [name, text] of Object.entries(pulse)) {
    for (const place of numbers.get(name) ?? []) {
      if (place instanceof SVGElement) place.setAttribute("width", text);
      else if (place.textContent !== text) place.textContent = text;
    }
  }
};

// Fragments: the same page again, of which only the living parts are taken.

let asked = Date.now();
let asking = false;
const refresh = async () => {
  const parts = document.querySelectorAll("[data-live]");
  if (asking || parts.length === 0 || Date.now() - asked < REFRESH) return;
  asking = true;
  asked = Date.now();
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) {
      const next = page.getElementById(part.id);
      // Who is at work in it is not disturbed.
      if (!next || part.contains(document.activeElement) || part.matches(":hover")) continue;
      if (part.innerHTML === next.innerHTML) continue;
      const open = [...part.querySelectorAll("details[open][id]")].map((details) => details.id);
      part.replaceChildren(...next.childNodes);
      for (const id of open) part.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
    }
    findNumbers();
    prepareCharts();
  } catch {
    // The stream says when it is there again.
  } finally {
    asking = false;
  }
};

// The stream: one, as long as somebody looks.

let stream = null;
let pause = FIRST_PAUSE;
let timer = 0;
const close = () => {
  clearTimeout(timer);
  stream?.close();
  stream = null;
  body.classList.remove("is-live");
};
const open = () => {
  if (document.hidden) close();
  if (document.hidden || stream || !body.dataset.stream) return;
  clearTimeout(timer);
  stream = new EventSource(body.dataset.stream);
  stream.addEventListener("pulse", (event) => {
    pause = FIRST_PAUSE;
    const numbers = JSON.parse(event.data);
    body.classList.toggle("is-live", !numbers.over);
    show(numbers);
    refresh();
  });
  stream.onerror = () => {
    close();
    timer = setTimeout(open, pause * (0.75 + Math.random() / 2));
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  };
};
document.addEventListener("visibilitychange", open);
addEventListener("pagehide", close);
addEventListener("pageshow", open);

// Times that pass.

const spoken = (seconds) => {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const [large, parts, small, unit] = seconds < 172800 ? ["h", 60, "m", 60] : ["d", 24, "h", 3600];
  const count = Math.round(seconds / unit);
  const many = Math.floor(count / parts);
  const some = count % parts;
  return [many ? `${many} ${large}` : "", some || !many ? `${some} ${small}` : ""].filter(Boolean).join(" ");
};
const ago = () => {
  if (document.hidden) return;
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const seconds = (now - Date.parse(time.dateTime)) / 1000;
    const text = seconds >= 0 ? `${spoken(seconds)} ago` : `in ${spoken(-seconds)}`;
    if (time.textContent !== text) time.textContent = text;
  }
};
setInterval(ago, 1_000);

// Charts: what is under the pointer, or under the arrow keys.

const nearest = (xs, x) => {
  let best = 0;
  for (let place = 1; place < xs.length; place += 1) {
    if (Math.abs(xs[place] - x) < Math.abs(xs[best] - x)) best = place;
  }
  return best;
};
const prepareCharts = () => {
  for (const area of document.querySelectorAll(".area[data-points]")) {
    if (area.dataset.ready) continue;
    area.dataset.ready = "yes";
    const { x: xs, said } = JSON.parse(area.dataset.points);
    if (xs.length === 0) continue;
    const readout = area.closest("figure").querySelector(".readout");
    const cursor = document.createElement("div");
    cursor.className = "cursor";
    cursor.hidden = true;
    area.append(cursor);
    let place = xs.length - 1;
    const point = (next) => {
      place = Math.max(0, Math.min(xs.length - 1, next));
      cursor.hidden = false;
      cursor.style.left = `${100 * xs[place]}%`;
      readout.textContent = said[place];
    };
    area.addEventListener("pointermove", (event) => {
      const box = area.getBoundingClientRect();
      point(nearest(xs, (event.clientX - box.left) / box.width));
    });
    area.addEventListener("pointerleave", () => {
      cursor.hidden = true;
      readout.textContent = "";
    });
    area.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -xs.length, End: xs.length }[event.key];
      if (!step) return;
      event.preventDefault();
      point(place + step);
    });
    area.addEventListener("blur", () => { cursor.hidden = true; });
  }
};

// The slider of the plan: the curve is on the page already.

const prepareSlider = () => {
  const slider = document.querySelector("input[data-curve]");
  if (!slider) return;
  const { rates, best, polite } = JSON.parse(slider.dataset.curve);
  const at = (values, rate) => {
    let place = rates.findIndex((own) => own >= rate);
    if (place < 0) return values.at(-1);
    if (place === 0) return values[0];
    const share = (rate - rates[place - 1]) / (rates[place] - rates[place - 1]);
    return values[place - 1] + share * (values[place] - values[place - 1]);
  };
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const [from, to] = [Math.log(rates[0]), Math.log(rates.at(-1))];
  const area = document.querySelector("#curve .area");
  const pin = document.createElement("div");
  pin.className = "cursor";
  area?.append(pin);
  const move = () => {
    const rate = Math.exp(from + (slider.value / slider.max) * (to - from));
    const text = Number(rate.toPrecision(3)).toString();
    document.getElementById("chosen-rate").textContent = text;
    document.getElementById("chosen-best").textContent = percent(at(best, rate));
    document.getElementById("chosen-polite").textContent = percent(at(polite, rate));
    slider.setAttribute("aria-valuetext", `${text} requests a second: ${percent(at(polite, rate))} fresh`);
    const field = document.querySelector("input[name=rate][data-follows]");
    if (field) field.value = text;
    pin.style.left = `${(100 * slider.value) / slider.max}%`;
  };
  slider.addEventListener("input", move);
  move();
  slider.closest("form").querySelector("button")?.setAttribute("hidden", "");
};

findNumbers();
prepareCharts();
prepareSlider();
ago();
open();
