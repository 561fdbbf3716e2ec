// SPDX-License-Identifier: BSD-3-Clause
// report.js - the interactive page of `heddle report`: reads the runs that the page carries, draws the
// matrix on a canvas of its own and everything else with Chart.js.
'use strict';

const runs = JSON.parse(document.getElementById('data').textContent).runs;
const $ = (id) => document.getElementById(id);
const states = ['not measured', 'measured', 'lost', 'corrupted'];
const classNames = { core: 'same core', complex: 'same core complex', socket: 'same socket', host: 'same host', group: 'same group', network: 'other host' };
/// Whether it is known which hosts are in one group.
const grouped = (r) => (r.groups ?? []).length > 0;
const className = (r, name) => name === 'network' && grouped(r) ? 'other group' : classNames[name];
const ramp = [[48, 16, 92], [56, 66, 140], [38, 112, 146], [30, 156, 138], [96, 200, 98], [190, 222, 54], [254, 236, 80]];
const failedColor = [225, 30, 45], unknownColor = [128, 128, 132];

// --- numbers ---

const decode = (text, Type) => new Type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
for (const run of runs) {
  for (const size of run.sizes) {
    for (const name of Object.keys(size.matrices))
      size.matrices[name] = decode(size.matrices[name], name === 'state' ? Uint8Array : Float32Array);
  }
  run.hostNames = [...new Set(run.hosts)];
}

function scaled(value, units) {
  if (!(value >= 0)) return '-';
  let i = 0;
  while (i + 1 < units.length && value >= 999.5) { value /= 1000; ++i; }
  return `${value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0)} ${units[i]}`;
}
const seconds = (s) => scaled(s * 1e9, ['ns', 'us', 'ms', 's']);
const rate = (r) => scaled(r, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);
function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let i = 0;
  while (i + 1 < units.length && n >= 1024) { n /= 1024; ++i; }
  return `${Number(n.toPrecision(3))} ${units[i]}`;
}
const ascending = (values) => Float64Array.from(values).sort();
function median(values) {
  const sorted = ascending(values), middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// --- what is shown ---

const shown = { run: 0, size: 0, metric: 'time_median', order: 'rank', from: 0, side: 0, row: 0, column: 0, pair: null };
const run = () => runs[shown.run];
const size = () => run().sizes[shown.size];
const ranks = () => run().hosts.length;
const directions = (r) => ({ bi: 2, unknown: NaN }[r.options.kernel] ?? 1);
const bandwidth = (r, s, time) => directions(r) * s.bytes / time;

function valueOf(r, s, i) {
  if (shown.metric === 'bandwidth') return bandwidth(r, s, s.matrices.time_median[i]);
  if (shown.metric === 'change') return s.matrices.time_median[i] / baseOf(s, i);
  return s.matrices[shown.metric][i];
}
/// The median time of the same pair and size in the other run.
function baseOf(s, i) {
  const other = runs[1 - shown.run];
  const same = other && other.hosts.length === ranks() && other.sizes.find((o) => o.bytes === s.bytes);
  return same ? same.matrices.time_median[i] : NaN;
}
const largeIsBad = () => shown.metric !== 'bandwidth';
const text = (value) => shown.metric === 'bandwidth' ? rate(value)
  : shown.metric === 'change' ? (value > 0 ? `${value.toFixed(2)} x` : '-') : seconds(value);

function classOf(r, i, j) {
  if (r.hosts[i] !== r.hosts[j]) return grouped(r) && r.groups[i] === r.groups[j] ? 'group' : 'network';
  const a = r.places[i], b = r.places[j];
  if (!a || !b) return 'host';
  if (a.cores.length === 1 && b.cores.length === 1 && a.cores[0] === b.cores[0]) return 'core';
  return ['complex', 'socket'].find((part) => a[part] >= 0 && a[part] === b[part]) ?? 'host';
}

/// For each place in the picture, the rank that stands there.
function order() {
  const all = [...Array(ranks()).keys()];
  if (shown.order === 'host')
    all.sort((a, b) => run().hosts[a].localeCompare(run().hosts[b], undefined, { numeric: true }) || a - b);
  if (shown.order === 'slow') {
    const times = size().matrices.time_median, n = ranks();
    const usual = all.map((a) => median(all.flatMap((b) => [times[a * n + b], times[b * n + a]]).filter((t) => t > 0)) || 0);
    all.sort((a, b) => usual[b] - usual[a]);
  }
  return all;
}

// --- the matrix ---

const canvas = $('matrix'), pen = canvas.getContext('2d'), picture = document.createElement('canvas');
const margin = 36, drawn = canvas.width - margin;  // above and left of the matrix stand numbers of ranks
let standing = [], scale = null;

function colorAt(badness) {
  const at = Math.min(Math.max(badness, 0), 1) * (ramp.length - 1), i = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[i].map((low, c) => Math.round(low + (ramp[i + 1][c] - low) * (at - i)));
}
function makeScale() {
  const found = [], n = ranks();
  for (let i = 0; i < n * n; ++i) { const v = valueOf(run(), size(), i); if (v > 0) found.push(v); }
  const all = ascending(found);
  let low = all[0], high = all[all.length - 1];
  if (largeIsBad()) high = Math.max(high, low * 1.25); else low = Math.min(low, high / 1.25);
  return { low, high, badness: (v) => { const part = Math.log(v / low) / Math.log(high / low); return largeIsBad() ? part : 1 - part; } };
}
function paint() {
  const n = ranks(), s = size();
  standing = order();
  scale = makeScale();
  picture.width = picture.height = n;
  const pixels = picture.getContext('2d').createImageData(n, n);
  for (let y = 0; y < n; ++y) {
    for (let x = 0; x < n; ++x) {
      const i = standing[y] * n + standing[x], v = valueOf(run(), s, i);
      const color = s.matrices.state[i] >= 2 ? failedColor : v > 0 ? colorAt(scale.badness(v)) : unknownColor;
      pixels.data.set([...color, 255], 4 * (y * n + x));
    }
  }
  picture.getContext('2d').putImageData(pixels, 0, 0);
  const stops = ramp.map((c) => `rgb(${c})`).join(',');
  $('scale').style.background = `linear-gradient(to right, ${stops})`;
  $('good').textContent = text(largeIsBad() ? scale.low : scale.high);
  $('bad').textContent = text(largeIsBad() ? scale.high : scale.low);
  place();
}
function place() {
  const n = ranks(), side = shown.side || n, each = drawn / side;
  shown.row = Math.min(Math.max(shown.row, 0), n - side);
  shown.column = Math.min(Math.max(shown.column, 0), n - side);
  pen.imageSmoothingEnabled = false;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  writeRanks(side, each);
  pen.save();
  pen.translate(margin, margin);
  pen.drawImage(picture, shown.column, shown.row, side, side, 0, 0, drawn, drawn);
  pen.beginPath();
  pen.rect(0, 0, drawn, drawn);
  pen.clip();
  if (each >= 40) writeNumbers(side, each);
  if (shown.pair) frame(shown.pair, each);
  pen.restore();
}
function writeRanks(side, each) {
  const every = Math.ceil(28 / each);
  pen.font = '12px system-ui, sans-serif';
  pen.fillStyle = getComputedStyle(document.body).color;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  for (let k = 0; k < side; k += every) {
    const at = margin + (k + .5) * each;
    pen.fillText(standing[shown.column + k], at, margin / 2);
    pen.fillText(standing[shown.row + k], margin / 2, at);
  }
}
function writeNumbers(side, each) {
  pen.font = `${Math.min(14, each / 5.5)}px system-ui, sans-serif`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  for (let y = 0; y < side; ++y) {
    for (let x = 0; x < side; ++x) {
      const from = standing[Math.floor(y + shown.row)], to = standing[Math.floor(x + shown.column)];
      const i = from * ranks() + to, v = valueOf(run(), size(), i), state = size().matrices.state[i];
      pen.fillStyle = v > 0 && state < 2 && scale.badness(v) > .6 ? '#000' : '#fff';
      pen.fillText(from === to ? '' : state >= 2 ? states[state] : text(v), (x + .5) * each, (y + .5) * each);
    }
  }
}
function frame([from, to], each) {
  const y = standing.indexOf(from) - shown.row, x = standing.indexOf(to) - shown.column;
  pen.strokeStyle = '#ff2d6f';
  pen.lineWidth = 3;
  pen.strokeRect(x * each, y * each, Math.max(each, 4), Math.max(each, 4));
}
/// Where in the matrix the pointer is: 0 to 1 from its left and from its top.
function pointer(event) {
  const box = canvas.getBoundingClientRect(), shrunk = canvas.width / box.width;
  return [event.clientX - box.left, event.clientY - box.top].map((d) => (d * shrunk - margin) / drawn);
}
function pairAt(event) {
  const side = shown.side || ranks(), [px, py] = pointer(event);
  if (px < 0 || py < 0) return null;
  const x = Math.floor(shown.column + px * side), y = Math.floor(shown.row + py * side);
  return x >= 0 && y >= 0 && x < ranks() && y < ranks() ? [standing[y], standing[x]] : null;
}
function zoom(event, factor) {
  const n = ranks(), before = shown.side || n, [px, py] = pointer(event).map((d) => Math.min(Math.max(d, 0), 1));
  const side = Math.min(n, Math.max(Math.min(4, n), Math.round(before * factor)));
  shown.column = Math.round(shown.column + px * (before - side));
  shown.row = Math.round(shown.row + py * (before - side));
  shown.side = side;
  place();
}

canvas.addEventListener('wheel', (event) => { event.preventDefault(); zoom(event, event.deltaY > 0 ? 1.25 : .8); }, { passive: false });
canvas.addEventListener('mousemove', (event) => {
  const pair = pairAt(event), tip = $('tip');
  tip.style.display = pair ? 'block' : 'none';
  if (!pair) return;
  const i = pair[0] * ranks() + pair[1];
  tip.textContent = `rank ${pair[0]} (${run().hosts[pair[0]]}) -> rank ${pair[1]} (${run().hosts[pair[1]]})\n` +
    (pair[0] === pair[1] ? 'itself' : `${text(valueOf(run(), size(), i))}, ${states[size().matrices.state[i]]}`);
  tip.style.left = `${event.clientX + 14}px`;
  tip.style.top = `${event.clientY + 14}px`;
});
canvas.addEventListener('mouseleave', () => { $('tip').style.display = 'none'; });
canvas.addEventListener('click', (event) => { const pair = pairAt(event); if (pair) select(pair); });
canvas.addEventListener('dblclick', () => { shown.side = 0; place(); });

// --- one pair ---

const row = (name, value) => { const t = document.createElement('dt'), d = document.createElement('dd'); t.textContent = name; d.textContent = value; return [t, d]; };
function select(pair) {
  shown.pair = pair;
  const [from, to] = pair, list = document.createElement('dl'), r = run(), n = ranks();
  $('pair-title').textContent = `rank ${from} -> rank ${to}`;
  list.append(...row('hosts', `${r.hosts[from]} -> ${r.hosts[to]} (${className(r, classOf(r, from, to))})`));
  for (const s of r.sizes) {
    const m = s.matrices, i = from * n + to, back = to * n + from;
    list.append(...row(bytes(s.bytes), states[m.state[i]]));
    if (!(m.time_median[i] > 0)) continue;
    list.append(...row('median', `${seconds(m.time_median[i])}, ${rate(bandwidth(r, s, m.time_median[i]))}`));
    list.append(...row('95 % interval', m.time_ci_low[i] > 0 ? `${seconds(m.time_ci_low[i])} to ${seconds(m.time_ci_high[i])}` : 'too few measurements'));
    list.append(...row('least, p99, most', [m.time_min, m.time_p99, m.time_max].map((v) => seconds(v[i])).join(', ')));
    list.append(...row('measurements', `${m.samples[i]}`));
    list.append(...row('the other way', seconds(m.time_median[back])));
  }
  $('pair-facts').replaceChildren(list);
  place();
}

// --- charts ---

const charts = {};
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.color = getComputedStyle(document.body).color;
function chart(id, type, data, options) {
  charts[id]?.destroy();
  charts[id] = new Chart($(id), { type, data, options });
}
const classColors = { core: '#8fae1b', complex: '#1e9c8a', socket: '#3f8fc4', host: '#38428c', group: '#b0417f', network: '#c98a1b' };

function perClass() {
  const out = {}, n = ranks(), r = run(), s = size();
  for (let i = 0; i < n; ++i)
    for (let j = 0; j < n; ++j) {
      const v = valueOf(r, s, i * n + j);
      if (i !== j && v > 0) (out[classOf(r, i, j)] ??= []).push(v);
    }
  return out;
}
function drawHistogram() {
  const r = run(), all = perClass(), bins = 40, ratio = scale.high / scale.low;
  const edge = (b) => scale.low * ratio ** (b / bins);
  const labels = [...Array(bins).keys()].map((b) => text(edge(b + .5)));
  const datasets = Object.entries(all).map(([name, values]) => {
    const counts = Array(bins).fill(0);
    for (const v of values) counts[Math.min(bins - 1, Math.max(0, Math.floor(Math.log(v / scale.low) / Math.log(ratio) * bins)))]++;
    return { label: className(r, name), data: counts, backgroundColor: classColors[name], barPercentage: 1, categoryPercentage: 1 };
  });
  chart('histogram', 'bar', { labels, datasets }, { scales: { x: { stacked: true, ticks: { maxTicksLimit: 8 } }, y: { stacked: true, title: { display: true, text: 'pairs' } } } });
}
/// Each host's median over its pairs with other hosts (or all, when there is one), to and from.
function hostFigures() {
  const n = ranks(), r = run(), s = size(), out = new Map(r.hostNames.map((h) => [h, { to: [], from: [] }]));
  for (let i = 0; i < n; ++i)
    for (let j = 0; j < n; ++j) {
      const v = valueOf(r, s, i * n + j);
      if (i === j || !(v > 0) || (r.hostNames.length > 1 && r.hosts[i] === r.hosts[j])) continue;
      out.get(r.hosts[i]).from.push(v);
      out.get(r.hosts[j]).to.push(v);
    }
  const rows = [...out].map(([host, v]) => ({ host, from: median(v.from), to: median(v.to) }));
  const worst = (h) => largeIsBad() ? Math.max(h.from || 0, h.to || 0) : -Math.min(h.from || Infinity, h.to || Infinity);
  return rows.sort((a, b) => worst(b) - worst(a));
}
function drawHosts() {
  const rows = hostFigures().slice(0, 40);
  chart('hosts', 'bar', {
    labels: rows.map((h) => h.host),
    datasets: [{ label: 'initiator', data: rows.map((h) => h.from), backgroundColor: '#38428c' }, { label: 'peer', data: rows.map((h) => h.to), backgroundColor: '#60c862' }],
  }, { indexAxis: 'y', plugins: { tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${text(c.raw)}` } } }, scales: { x: { type: 'logarithmic', ticks: { callback: (v) => text(v), maxTicksLimit: 5 } } } });
}
function cells(tag, words) {
  const line = document.createElement('tr');
  line.append(...words.map((word) => { const c = document.createElement(tag); c.textContent = word; return c; }));
  return line;
}
function drawWorst() {
  const r = run(), s = size(), n = ranks(), usual = {}, found = [];
  for (const [name, values] of Object.entries(perClass())) usual[name] = median(values);
  for (let i = 0; i < n; ++i)
    for (let j = 0; j < n; ++j) {
      const v = valueOf(r, s, i * n + j), name = classOf(r, i, j);
      if (i !== j && v > 0) found.push({ i, j, v, name, factor: largeIsBad() ? v / usual[name] : usual[name] / v });
    }
  found.sort((a, b) => b.factor - a.factor);
  $('worst').replaceChildren(...found.slice(0, 20).map((f) => {
    const line = cells('td', [`${f.i} (${r.hosts[f.i]}) -> ${f.j} (${r.hosts[f.j]})`, className(r, f.name), text(f.v), `${f.factor.toFixed(2)} x`, seconds(s.matrices.time_p99[f.i * n + f.j])]);
    line.dataset.pair = `${f.i},${f.j}`;
    if (f.factor > 1.5) line.children[3].className = 'bad';
    line.addEventListener('click', () => select([f.i, f.j]));
    return line;
  }));
}
function drawComparison() {
  $('comparison').hidden = runs.length < 2;
  if (runs.length < 2) return;
  const lines = [];
  for (const s of runs[0].sizes) {
    const other = runs[1].sizes.find((o) => o.bytes === s.bytes);
    for (const [name, f] of Object.entries(s.classes)) {
      const alike = name !== 'network' || grouped(runs[0]) === grouped(runs[1]);
      const g = alike ? other?.classes[name] : null;
      lines.push(cells('td', [`${bytes(s.bytes)}, ${className(runs[0], name)}`, seconds(f.time.median), g ? seconds(g.time.median) : '-', g ? `${(f.time.median / g.time.median).toFixed(3)} x` : '-']));
    }
  }
  $('compared').replaceChildren(...lines);
}

// --- facts ---

function showFacts() {
  const r = run(), list = document.createElement('dl'), o = r.options;
  const failed = r.sizes.reduce((sum, s) => sum + s.matrices.state.reduce((k, v) => k + (v >= 2), 0), 0);
  $('title').textContent = `${r.hosts.length} ranks on ${r.hostNames.length} host${r.hostNames.length > 1 ? 's' : ''}`;
  $('subtitle').textContent = [r.started, `kernel ${o.kernel}`, `op ${o.op || 'send'}`, o.mode, `${o.messages} messages`, `${o.repetitions} repetitions`, over(r)].filter(Boolean).join(', ');
  $('state').textContent = r.interrupted ? 'Interrupted before all was measured.' : failed ? `${failed} measurements failed.` : r.complete ? 'All pairs were measured.' : 'Some pairs were not measured.';
  $('state').className = r.complete ? 'soft' : 'bad';
  list.append(...row('command', r.command || 'not known'), ...row('written by', /^\d/.test(r.heddle_version) ? `heddle ${r.heddle_version}` : r.heddle_version), ...row('took', `${r.elapsed_s.toFixed(1)} s`), ...row('seed', `${o.seed}`));
  for (const [name, value] of Object.entries(r.environment)) list.append(...row(name, value));
  for (const [host, facts] of Object.entries(r.machines))
    for (const [name, value] of Object.entries(facts)) list.append(...row(`${host}: ${name}`, value));
  $('facts').replaceChildren(list);
  showFindings(r);
}

/// The layer that was asked for, or the wires that were in use.
function over(r) {
  const layer = r.options.backend || 'auto';
  if (layer !== 'auto' && layer !== 'unknown') return `over ${layer}`;
  return r.routes.length ? `over ${r.routes.join(' and ')}` : '';
}

function showList(list, words) {
  $(list).replaceChildren(...words.map((text) => Object.assign(document.createElement('li'), { textContent: text })));
  $(list).parentElement.hidden = !words.length;
}

/// Who is not judged, what the link tester's diagnosis accuses and how much it had looked at, or why it has not looked;
/// which rules are missed; and how the layers of the run compare, where this is the last of several.
function showFindings(r) {
  const words = [];
  if (r.disturbed) words.push(`Waited for a core that others had, for part of the time, and are not judged: ${r.disturbed}.`);
  if (r.not_diagnosed) words.push(`Slow nodes and links were not looked for: ${r.not_diagnosed}.`);
  if (r.diagnosis) words.push(...r.diagnosis.words.trim().split(/\n(?! )/));  // a paragraph each
  showList('verdicts', words);
  showList('missed', r.missed_rules.map((rule) => rule.words));
  $('layers').hidden = !r.layers;
  $('layers-words').textContent = r.layers || '';
}

// --- choices ---

function choices(id, options, value) {
  $(id).replaceChildren(...options.map(([v, label]) => new Option(label, v, false, String(v) === String(value))));
}
function drawAll() { paint(); drawHistogram(); drawHosts(); drawWorst(); if (shown.pair) select(shown.pair); }
function startRun() {
  shown.size = Math.min(shown.size, run().sizes.length - 1);
  shown.side = 0;
  if (shown.pair && Math.max(...shown.pair) >= ranks()) shown.pair = null;
  choices('size', run().sizes.map((s, i) => [i, bytes(s.bytes)]), shown.size);
  const metrics = [['time_median', 'median time'], ['bandwidth', 'bandwidth'], ['time_min', 'least time'], ['time_p99', '99th percentile']];
  if (runs.length > 1) metrics.push(['change', 'time beside the other run']);
  choices('metric', metrics, shown.metric);
  showFacts();
  drawAll();
}
choices('run', runs.map((r, i) => [i, r.name]), 0);
$('run-choice').hidden = runs.length < 2;
$('run').addEventListener('change', () => { shown.run = Number($('run').value); startRun(); });
for (const id of ['size', 'metric', 'order'])
  $(id).addEventListener('change', () => { shown[id] = id === 'size' ? Number($(id).value) : $(id).value; drawAll(); });
$('whole').addEventListener('click', () => { shown.side = 0; place(); });
startRun();
drawComparison();
document.documentElement.dataset.ready = 'yes';
