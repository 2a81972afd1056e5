// What the tests share: the program, the browser, made-up data, and looks at a page.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
export const program = process.env.SETVEIL_PROGRAM;
export const shots = process.env.SETVEIL_SHOTS;
fs.mkdirSync(shots, { recursive: true });

// Nothing is fetched, and there is no sandbox for root.
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export function browser(...more) {
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: [...flags, ...more] });
}

/** A folder with files. */
export function folder(files = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'setveil-page-'));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text);
  return dir;
}

/** The real program, with the link that it printed. */
export async function serve(dir, ...more) {
  const child = spawn(program, ['serve', dir, '--no-browser', '--json', ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '', err = '';
  child.stderr.on('data', data => { err += data; });
  const ended = new Promise(resolve => child.on('exit', (code, signal) => resolve({ code, signal })));
  const link = await new Promise((resolve, reject) => {
    child.stdout.on('data', data => {
      out += data;
      try { resolve(JSON.parse(out).link); } catch { /* more will come */ }
    });
    child.on('exit', code => reject(new Error(`it ended with ${code}: ${err}`)));
  });
  const stop = async () => { child.kill('SIGTERM'); await ended; };
  return { child, link, origin: new URL(link).origin, ended, stop, said: () => out + err };
}

/** The command line tool. */
export function setveil(dir, ...args) {
  return execFileSync(program, args, { cwd: dir, encoding: 'utf8' });
}

/** A page that remembers what went wrong in it. */
export async function open(context, link) {
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  page.faults = [];
  page.on('pageerror', error => page.faults.push(`error: ${error.message}`));
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) page.faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('dialog', dialog => { page.faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.addInitScript(() => {
    // What moves because somebody typed is meant to move, and so is what a click asked for. The browser itself knows of clicks of
    // the last half second only: on a busy machine an answer takes longer.
    let typed = false, clicked = -Infinity;
    addEventListener('input', () => { typed = true; }, true);
    addEventListener('click', () => { clicked = performance.now(); }, true);
    const meant = entry => typed || entry.hadRecentInput || entry.startTime - clicked < 10_000;
    globalThis.shifted = 0;
    new PerformanceObserver(list => {
      for (const entry of list.getEntries()) if (!meant(entry)) globalThis.shifted += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  if (link) await page.goto(link);
  return page;
}

/** Tests of which each begins where the one before ended. */
export function steps() {
  let broken = false;
  return (name, work) => test(name, async t => {
    if (broken) { t.skip('a step before failed'); return; }
    broken = true;
    await work();
    broken = false;
  });
}

/** What axe-core found, by how bad it is. */
export const found = {};

/** Looks at the page at both widths and in the dark; takes pictures under a name. */
export async function look(page, name) {
  for (const [width, height] of [[1440, 900], [400, 800]]) {
    await page.setViewportSize({ width, height });
    for (const scheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme: scheme });
      await inspect(page, `${name} at ${width}, ${scheme}`);
      const dark = scheme === 'dark' ? '-dark' : '';
      await page.screenshot({ path: path.join(shots, `${name}-${width}${dark}.png`), fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.ok(await page.evaluate(() => globalThis.shifted) < 0.01, `${name}: the layout shifts`);
  assert.deepEqual(page.faults, [], name);
}

/** A picture for the documents: `make page-pictures` takes it there. */
export async function picture(page, name) {
  await page.setViewportSize({ width: 1160, height: 860 });
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: path.join(shots, `doc-${name}.png`) });
  await page.setViewportSize({ width: 1440, height: 900 });
}

async function inspect(page, where) {
  const wide = await page.evaluate(() => {
    const root = document.documentElement, out = [];
    if (root.scrollWidth > root.clientWidth) out.push(`the page is ${root.scrollWidth} wide, not ${root.clientWidth}`);
    for (const e of document.querySelectorAll('body *')) {
      if (e.closest('svg, .skip, .hidden-text, .table')) continue;
      const box = e.getBoundingClientRect();
      if (box.width && box.right > root.clientWidth + 1) out.push(`${e.tagName}.${e.className} ends at ${box.right}: ${e.textContent.slice(0, 40)}`);
    }
    return out.slice(0, 5);
  });
  assert.deepEqual(wide, [], where);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  for (const v of violations) {
    const key = `${v.impact}: ${v.id}`;
    (found[key] ??= new Set()).add(where);
  }
  const bad = violations.filter(v => ['serious', 'critical'].includes(v.impact));
  const words = bad.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => `${n.target} ${n.failureSummary}`).join(' | ')}`);
  assert.deepEqual(words, [], where);
}

/** Baskets of a shop; always the same. */
export function baskets(count) {
  let seed = 2012;
  const draw = n => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % n; };
  const staples = ['bread', 'milk', 'eggs', 'bananas', 'apples', 'coffee', 'butter', 'cheese', 'water', 'chocolate'];
  const kinds = [
    ['diapers', 'baby food', 'wet wipes', 'juice'], ['noodles', 'energy drink', 'frozen pizza', 'beer'],
    ['tea', 'honey', 'cough syrup', 'handkerchiefs', 'nasal spray'], ['olive oil', 'tomatoes', 'pasta', 'red wine'],
    ['insulin needles', 'test strips', 'diet soda'], ['folic acid', 'pregnancy test', 'ginger'],
    ['sleeping pills', 'herbal tea', 'antidepressant'],
  ];
  let text = '';
  for (let i = 0; i < count; i += 1) {
    const items = new Set(), kind = kinds[Math.min(draw(7), draw(7))];
    for (let n = draw(4); n >= 0; n -= 1) items.add(staples[Math.min(draw(10), draw(10))]);
    for (let n = draw(3); n >= 0; n -= 1) items.add(kind[Math.min(draw(kind.length), draw(kind.length))]);
    text += [...items].join(',') + '\n';
  }
  return text;
}
