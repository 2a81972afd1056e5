// What goes wrong, and what others try.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { baskets, browser, folder, look, open, serve, shots } from './lib.mjs';

let chrome;
const servers = [];
before(async () => { chrome = await browser('--host-resolver-rules=MAP evil.example 127.0.0.1'); });
after(async () => {
  await chrome.close();
  await Promise.all(servers.map(server => server.stop()));
});

async function site(files) {
  const dir = folder(files), server = await serve(dir);
  servers.push(server);
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 } });
  return { dir, server, context, page: await open(context, server.link) };
}

test('a run that is cancelled leaves nothing', async () => {
  const { dir, page } = await site({ 'a.csv': baskets(4000) });
  await page.getByRole('button', { name: /a\.csv/ }).click();
  await page.waitForURL(/\/data\/\d+$/);
  const id = page.url().match(/data\/(\d+)/)[1];
  await page.goto(page.url().replace(/data\/\d+$/, `data/${id}/sweep`));
  await page.getByLabel('Values of k').fill('2,3,4,5,6,7,8,9,10,11,12,13,14,15');
  await page.getByLabel('Repeated so often').fill('10');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText(/Setting \d+ of \d+/).first().waitFor();
  await look(page, '15-working');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Cancelled' }).waitFor();
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByText('There are none yet').waitFor();
  assert.deepEqual(fs.readdirSync(dir), ['a.csv']);
});

test('a bad file leads to a form that mends it, and a file can be dropped', async () => {
  const { dir, page } = await site({ 'notes.txt': 'tea milk\nbread milk\ntea bread\n' });
  await page.getByRole('button', { name: /notes\.txt/ }).click();
  await page.getByText('does not tell the format').waitFor();
  await look(page, '16-bad-file');
  await page.getByRole('link', { name: 'Back' }).click();
  await page.getByLabel('Format').selectOption('fimi');
  await page.getByRole('button', { name: 'Read it like this' }).click();
  await page.waitForURL(/\/data\/\d+$/);
  let table = 'patient,code\n';
  for (let i = 0; i < 300; i += 1) table += `p${Math.floor(i / 3)},c${i * 7 % 11}\n`;
  await page.getByRole('link', { name: 'Publish data' }).click();
  // What is dropped before the page and its script are there is dropped nowhere.
  await page.waitForURL(/\/$/);
  const transfer = await page.evaluateHandle(text => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'visits.csv', { type: 'text/csv' }));
    return data;
  }, table);
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
  await page.waitForURL(/\/data\/\d+$/);
  assert.equal(fs.readFileSync(path.join(dir, 'visits.csv'), 'utf8'), table);
  await page.getByText('does not look like one set of items').waitFor();
  await look(page, '17-identifiers');
  await page.getByRole('button', { name: 'Read it like this' }).first().click();
  await page.getByText('Nothing in it looks like an identifier').waitFor();
  await page.getByText('long-csv').first().waitFor();
});

test('hostile, long and many names break nothing', async () => {
  const hostile = '<img src=x onerror=globalThis.pwned=1>';
  const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);
  let text = '';
  for (let i = 0; i < 10000; i += 1) text += JSON.stringify([hostile, long, `item ${i}`, `kind ${i % 50}`, '"><script>globalThis.pwned=2</script>']) + '\n';
  const { page } = await site({ 'names.jsonl': text });
  await page.getByRole('button', { name: /names\.jsonl/ }).click();
  await page.waitForURL(/\/data\/\d+$/);
  await look(page, '18-names');
  const sensitive = page.url() + '/sensitive';
  await page.getByLabel(/^It is meant as it was read/).check();
  await page.getByRole('button', { name: 'Yes, show the risk' }).click();
  await page.waitForURL(/\/risk$/);
  await page.goto(sensitive);
  await page.getByText('10,053 items').waitFor();
  assert.equal(await page.locator('#found .lines > li').count(), 50, 'a page, and not all of it');
  await look(page, '19-many');
  await page.getByLabel('Search by name').fill('<img');
  await page.getByText('1 item with “<img”').waitFor();
  await page.getByRole('button', { name: /^Add <img/ }).click();
  await page.goto(sensitive.replace('sensitive', 'protect?method=local-suppression&k=3&m=2'));
  await page.getByRole('button', { name: 'Make the release' }).click();
  await page.waitForURL(/\/run\/\d+$/);
  await look(page, '20-hostile-result');
  assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
});

test('another web site cannot read, post, frame or rebind', async () => {
  const { dir, server, context, page } = await site({ 'secret.csv': baskets(50) });
  const home = page.url(), port = new URL(home).port;
  const token = await page.locator('input[name=token]').first().getAttribute('value');
  const evil = http.createServer((_, response) => { response.setHeader('content-type', 'text/html'); response.end('<!doctype html><title>evil</title><body>evil'); });
  await new Promise(resolve => evil.listen(0, '127.0.0.1', resolve));
  const rows = [];
  // A foreign site, and a server of somebody else on this machine: the same host, another port.
  for (const origin of [`http://evil.example:${evil.address().port}`, `http://127.0.0.1:${evil.address().port}`]) {
    const bad = await context.newPage();
    await bad.goto(origin);
    const tried = await bad.evaluate(async ({ home, token }) => {
      const say = async work => { try { return await work(); } catch (error) { return `blocked (${error.name})`; } };
      const element = (name, set) => new Promise(resolve => {
        const e = document.createElement(name);
        e.onload = () => resolve('loaded'); e.onerror = () => resolve('blocked');
        set(e); document.body.append(e);
      });
      const out = {};
      out['read with fetch and cookies'] = await say(async () => (await fetch(home, { credentials: 'include' })).status);
      out['read without CORS'] = await say(async () => { const r = await fetch(home, { mode: 'no-cors', credentials: 'include' }); return `${r.type}, ${(await r.text()).length} bytes`; });
      out['post a form with fetch'] = await say(async () => (await fetch(home + 'data', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `token=${token}&file=secret.csv` })).type);
      out['include as a script'] = await element('script', e => { e.src = home + 'page.js'; });
      out['include as a picture'] = await element('img', e => { e.src = home + 'mark.svg'; });
      out['include as a style'] = await element('link', e => { e.rel = 'stylesheet'; e.href = home + 'style.css'; });
      const frame = document.createElement('iframe');
      frame.src = home; document.body.append(frame);
      await new Promise(resolve => { frame.onload = resolve; setTimeout(resolve, 2000); });
      out['read in a frame'] = await say(() => frame.contentDocument ? frame.contentDocument.body.innerText.slice(0, 40) || 'empty' : 'blocked (another origin)');
      return out;
    }, { home, token });
    // A form that is sent by a click, with the right token even.
    await bad.evaluate(({ home, token }) => {
      const form = document.createElement('form');
      form.method = 'post'; form.action = home + 'data';
      for (const [name, value] of [['token', token], ['file', 'secret.csv']]) {
        const input = document.createElement('input');
        input.name = name; input.value = value; form.append(input);
      }
      document.body.append(form); form.submit();
    }, { home, token });
    await bad.waitForURL(home + 'data');
    tried['post a form with a click, token known'] = (await bad.textContent('body')).trim();
    for (const [what, answer] of Object.entries(tried)) rows.push([origin.replace(/:\d+$/, ':PORT'), what, String(answer)]);
    await bad.close();
  }
  // Rebinding: the foreign name leads to this machine, on our port.
  const rebound = await context.newPage();
  const answer = await rebound.goto(home.replace('127.0.0.1', 'evil.example'));
  rows.push(['http://evil.example', 'rebind: a foreign name for this machine, on our port', `${answer.status()} ${(await answer.text()).trim()}`]);
  const local = await rebound.goto(home.replace('127.0.0.1', 'localhost'));
  rows.push(['http://localhost', 'another name of this machine', `${local.status()} ${(await local.text()).trim()}`]);
  const stranger = await chrome.newContext();
  const other = await stranger.newPage();
  for (const [what, address] of [['the address without the cookie', home], ['the link once more', server.link], ['the root', `http://127.0.0.1:${port}/`]]) {
    const got = await other.goto(address);
    rows.push(['another browser', what, `${got.status()} ${(await got.text()).trim()}`]);
  }
  evil.close();
  fs.writeFileSync(path.join(shots, 'attacks.txt'), rows.map(row => row.join(' | ')).join('\n') + '\n');
  for (const [from, what, text] of rows) {
    assert.match(text, /^(blocked|opaque, 0 bytes|opaque$|403|421|This request comes from another web site)/, `${from}: ${what}: ${text}`);
    assert.ok(!text.includes('secret'), `${from}: ${what}`);
  }
  // Nothing that was posted did anything.
  await page.goto(home);
  assert.equal(await page.getByText('Open in this session').count(), 0);
  assert.deepEqual(fs.readdirSync(dir), ['secret.csv']);
  assert.ok(!server.said().includes('secret'), 'nothing of the data in what the server says');
});

test('two tabs see the same, and a server that is killed is missed', async () => {
  const { server, context, page } = await site({ 'a.csv': baskets(300) });
  const home = page.url();
  await page.getByRole('button', { name: /a\.csv/ }).click();
  await page.waitForURL(/\/data\/\d+$/);
  const data = page.url(), second = await open(context, home);
  await second.getByRole('link', { name: /a\.csv/ }).click();
  assert.equal(second.url(), data);
  await page.goto(data + '/sensitive'); await second.goto(data + '/sensitive');
  await page.getByRole('button', { name: 'Add ginger' }).click();
  await page.getByRole('button', { name: 'Remove ginger' }).first().waitFor();
  await second.getByRole('button', { name: 'Add honey' }).click();
  await second.getByRole('button', { name: 'Remove ginger' }).first().waitFor();
  await Promise.all([page, second].map(async (tab, i) => {
    await tab.goto(`${data}/protect?method=${['suppress-rare', 'local-suppression'][i]}`);
    await tab.getByRole('button', { name: 'Make the release' }).click();
    await tab.waitForURL(/\/run\/\d+$/);
  }));
  await page.goto(home + 'history');
  assert.equal(await page.locator('tbody tr').count(), 2);
  server.child.kill('SIGKILL');
  assert.equal((await server.ended).signal, 'SIGKILL');
  await page.getByText('Setveil has ended.').waitFor({ timeout: 60_000 });
  await second.getByText('Setveil has ended.').waitFor({ timeout: 60_000 });
});

test('the keyboard suffices, and the button ends the server', async () => {
  const { server, page } = await site({ 'a.csv': baskets(100) });
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /a\.csv/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/data\/\d+$/);
  await page.goto(page.url() + '/protect');
  const radio = page.getByRole('radio').first();
  await radio.focus();
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.getByRole('radio', { name: /^Disassociation, safe/ }).isChecked());
  const slider = page.locator('input[type=range][data-for=k]');
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('#k').inputValue(), '6');
  await page.getByText('finds at least 6 records').first().waitFor();
  await page.getByRole('button', { name: 'End Setveil' }).click();
  await page.getByRole('heading', { name: 'Setveil has ended' }).waitFor();
  assert.deepEqual(await server.ended, { code: 0, signal: null });
});
