// A board whose picture no test looks at. Everything is called as for a picture, and the driver checks each call; but it fills no pixel, and
// the canvas stays empty. A processor that has to do this work itself takes 0.1 s for a picture of 1440 × 900.
import assert from 'node:assert/strict';

const REASON = 'this test looks at pixels: it has to open its board with {seen: true}';

/** To be called before a page is opened. Whoever looks at the picture all the same is told how to get one. Returns a function that has
 * everything drawn from the next frame on, or with false nothing again. */
export async function unsee(page) {
  const refuse = () => assert.fail(REASON);
  const {locator} = page;
  page.screenshot = refuse;
  page.locator = (...values) => Object.assign(locator.apply(page, values), {screenshot: refuse});
  await page.addInitScript((reason) => {
    const {WebGL2RenderingContext: webgl, ImageBitmapRenderingContext: shown} = globalThis;
    if (!webgl || !shown) return;  // switched off
    let isSeen = false;
    for (const name of ['drawElements', 'drawArrays']) {
      const draw = webgl.prototype[name];
      webgl.prototype[name] = function (...values) {
        if (isSeen) return draw.apply(this, values);
        this.enable(this.RASTERIZER_DISCARD);
        draw.apply(this, values);
        this.disable(this.RASTERIZER_DISCARD);
        return undefined;
      };
    }
    const empty = new WeakSet(), {transferFromImageBitmap} = shown.prototype;
    shown.prototype.transferFromImageBitmap = function (bitmap) {
      if (bitmap === null || isSeen) {
        empty.delete(this.canvas);
        return transferFromImageBitmap.call(this, bitmap);
      }
      empty.add(this.canvas);
      return bitmap.close();
    };
    globalThis.see = (on) => { isSeen = on; };
    globalThis.isUndrawn = () => [...document.querySelectorAll('attention-playground')].some(({shadowRoot}) => empty.has(shadowRoot?.querySelector('canvas')));
    const refuseAt = (prototype, name, canvasOf) => {
      const method = prototype[name];
      prototype[name] = function (...values) {
        if (empty.has(canvasOf(this, values))) throw new Error(reason);
        return method.apply(this, values);
      };
    };
    for (const {prototype} of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) refuseAt(prototype, 'drawImage', (pen, [image]) => image);
    for (const name of ['toBlob', 'toDataURL']) refuseAt(HTMLCanvasElement.prototype, name, (canvas) => canvas);
  }, REASON);
  return async (on = true) => {
    delete page.locator;
    delete page.screenshot;
    const {screenshot} = page;
    page.screenshot = async (...values) => {
      assert.equal(await page.evaluate(() => globalThis.isUndrawn()), false, 'a board was not drawn since see()');
      return screenshot.apply(page, values);
    };
    await page.evaluate((value) => globalThis.see(value), on);
  };
}
