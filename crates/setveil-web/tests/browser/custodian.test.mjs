// The way of a custodian and of a recipient, looked at step by step.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before } from 'node:test';
import { baskets, browser, folder, found, look, open, picture, serve, setveil, shots, steps } from './lib.mjs';

const test = steps();
let chrome, server, dir, context, page;
before(async () => {
  dir = folder({ 'pharmacy.csv': baskets(1500) });
  server = await serve(dir);
  chrome = await browser();
  context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });
});
after(async () => {
  await chrome.close();
  await server.stop();
  const list = Object.entries(found).map(([what, where]) => `${what}: ${where.size} times, first ${[...where][0]}`);
  fs.writeFileSync(path.join(shots, 'axe.txt'), (list.length ? list.join('\n') : 'nothing') + '\n');
});

test('from a file to a saved release', async () => {
  page = await open(context, server.link);
  await look(page, '01-start');
  await page.getByRole('button', { name: /pharmacy\.csv/ }).click();
  await page.waitForURL(/\/data\/\d+$/);
  await look(page, '02-data');
  await page.getByRole('button', { name: 'Yes, show the risk' }).click();
  await page.waitForURL(/\/risk$/);
  await look(page, '03-risk');
  await page.getByRole('link', { name: 'Protect it' }).click();
  await page.getByLabel('k: candidates').first().fill('4');
  await page.getByText('finds at least 4 records').waitFor();
  await look(page, '04-protect');
  await picture(page, 'protect');
});

test('sensitive items are searched while somebody types', async () => {
  await page.getByRole('button', { name: 'Choose sensitive items' }).click();
  await page.getByLabel('Search by name').pressSequentially('SLEEP', { delay: 20 });
  await page.getByText('1 item with “SLEEP”').waitFor();
  await page.getByRole('button', { name: 'Add sleeping pills' }).click();
  await page.getByLabel('Search by name').fill('depress');
  await page.getByRole('button', { name: 'Add antidepressant' }).click();
  await page.getByRole('button', { name: 'Remove antidepressant' }).first().waitFor();
  await look(page, '05-sensitive');
  await page.getByRole('link', { name: 'Done' }).click();
  await page.getByText('2 named.').waitFor();
  assert.equal(await page.getByLabel('k: candidates').first().inputValue(), '4', 'the form remembers');
});

test('a hierarchy is made and searched', async () => {
  await page.getByRole('radio', { name: /^Partition/ }).check();
  await page.getByText('needs a hierarchy').first().waitFor();
  await page.getByRole('button', { name: 'Choose a hierarchy' }).click();
  await page.getByRole('button', { name: 'Make one' }).click();
  await page.getByLabel('Search by name').fill('bread');
  await page.getByText(/bread ›/).waitFor();
  await look(page, '06-hierarchy');
  await page.getByRole('link', { name: 'Done' }).click();
  await page.getByRole('radio', { name: /^Disassociation Puts/ }).check();
});

test('settings are compared, and a point is chosen with the keyboard', async () => {
  await page.getByRole('button', { name: 'Compare settings first' }).click();
  await look(page, '07-sweep-form');
  await page.getByLabel('Values of k').fill('2, 4, 8');
  await page.getByLabel('Repeated so often').fill('2');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.waitForURL(/\/sweep\/\d+$/);
  await look(page, '08-sweep');
  await picture(page, 'sweep');
  const points = page.locator('svg.plot a');
  assert.equal(await points.count(), 6);
  assert.ok(await page.locator('svg.plot .spread').count() >= 12, 'each with its spread');
  const point = page.getByRole('link', { name: /^Disassociation, k = 4,.*risk/ });
  await point.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/protect\?/);
  assert.equal(await page.getByLabel('k: candidates').first().inputValue(), '4');
});

test('a release is made, looked at and saved', async () => {
  await page.getByRole('button', { name: 'Make the release' }).click();
  await page.waitForURL(/\/run\/\d+$/);
  await page.getByText('The promise holds').first().waitFor();
  await page.getByRole('heading', { name: /before and after$/ }).first().waitFor();
  await look(page, '09-result');
  await picture(page, 'result');
  assert.deepEqual(fs.readdirSync(dir), ['pharmacy.csv'], 'nothing was written yet');
  await page.getByLabel('Who answers for it').fill('A. Smith');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved: pharmacy-release').waitFor();
  await look(page, '10-saved');
  assert.deepEqual(fs.readdirSync(dir).sort(), ['pharmacy-release', 'pharmacy-release-receipt.json',
    'pharmacy-release-report.html', 'pharmacy-release-sensitive.txt', 'pharmacy.csv']);
  const report = await open(context, await page.getByRole('link', { name: /report for the data protection/ }).getAttribute('href')
    .then(href => server.origin + href));
  await report.getByText('Release report').first().waitFor();
  await report.close();
});

test('the exact command makes the same bytes', async () => {
  await page.locator('.verdict .copy').first().click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(command, /^setveil anonymize disassociation pharmacy\.csv .*-k 4 .*--sensitive pharmacy-release-sensitive\.txt/);
  const words = command.replace('-o pharmacy-release', '-o again').replace(/ --receipt \S+/, '').split(' ').slice(1);
  setveil(dir, ...words);
  execFileSync('diff', ['-r', path.join(dir, 'again'), path.join(dir, 'pharmacy-release')]);
});

test('history shows runs side by side', async () => {
  await page.getByRole('link', { name: 'Try other settings' }).click();
  await page.getByRole('radio', { name: /^Local suppression/ }).check();
  await page.getByRole('button', { name: 'Make the release' }).click();
  await page.waitForURL(/\/run\/\d+$/);
  await page.getByRole('link', { name: 'History' }).click();
  assert.equal(await page.locator('tbody tr').count(), 2);
  await page.getByText('pharmacy-release').first().waitFor();
  await look(page, '11-history');
});

test('a recipient opens, checks, asks, draws and exports', async () => {
  await page.getByRole('link', { name: 'Use a release' }).click();
  await look(page, '12-releases');
  await page.getByRole('button', { name: /^pharmacy-release/ }).click();
  await page.waitForURL(/\/release\/\d+$/);
  await page.getByText('The promise holds.').waitFor();
  await page.getByLabel('Search by name').fill('bread');
  await page.getByText('1 item with “bread”').waitFor();
  await page.getByRole('link', { name: 'Ask for bread' }).click();
  await page.getByLabel('Search by name').fill('milk');
  await page.getByRole('link', { name: 'Ask for milk' }).click();
  await page.getByText('The bounds always hold').waitFor();
  await picture(page, 'release');
  const [least, most] = await page.locator('#together ~ div dd').allInnerTexts().then(t => [t[0], t[2]].map(Number));
  const truth = fs.readFileSync(path.join(dir, 'pharmacy.csv'), 'utf8').split('\n')
    .filter(line => ['bread', 'milk'].every(item => line.split(',').includes(item))).length;
  assert.ok(least <= truth && truth <= most, `${least} <= ${truth} <= ${most}`);
  await page.getByRole('button', { name: 'Find them' }).click();
  await page.waitForURL(/itemsets$/);
  await look(page, '14-combinations');
  await page.goBack(); await page.goBack();
  await page.waitForURL(/\/release\/\d+/);
  await page.getByText('Draw possible originals').click();
  await page.getByRole('button', { name: 'Draw' }).click();
  await page.getByText('pharmacy-release-worlds/reconstruction-3').waitFor();
  await page.getByText('Export as tables').click();
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByText('pharmacy-release-tables/rows.csv').waitFor();
  await look(page, '13-release');
});

test('without a script the same way works', async () => {
  const plain = await chrome.newContext({ javaScriptEnabled: false });
  await plain.addCookies(await context.cookies());
  const own = await open(plain, page.url().replace(/release\/.*/, ''));
  await own.getByRole('button', { name: /pharmacy\.csv/ }).click();
  await own.waitForURL(/\/data\/\d+$/);
  await own.getByRole('button', { name: 'Yes, show the risk' }).click();
  await own.waitForURL(/\/risk$/);
  await own.getByRole('link', { name: 'Protect it' }).click();
  await own.getByRole('button', { name: 'Make the release' }).click();
  await own.waitForURL(/\/run\/\d+$/);
  await own.getByText('The promise holds').first().waitFor();
  await plain.close();
});
