// A fresh page whose reader of files is loaded, which is not to be measured.
import {Board} from '../browser/harness.mjs';

export async function opened({server, browser}) {
  const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
  await page.addInitScript(() => localStorage.setItem('attention-playground', '{"open":false}'));
  await page.goto(server.url);
  await page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
  const board = new Board(page, 'attention-playground');
  await board.drop('{"q": [[1], [2]], "k": [[1], [2]], "v": [[1], [2]]}', 'small.json');
  await board.rest();
  return board;
}
