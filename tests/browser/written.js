// Keeps what is written on each canvas, where and how large, from before the page's own scripts run.

{
  const [canvas, pen] = [HTMLCanvasElement.prototype, CanvasRenderingContext2D.prototype];
  const { fillText, drawImage, clearRect } = pen;
  const width = Object.getOwnPropertyDescriptor(canvas, "width");
  const drawn = new Map();
  globalThis.drawnTexts = drawn;
  const add = (onto, texts) => drawn.set(onto, [...(drawn.get(onto) ?? []), ...texts]);
  pen.fillText = function (text, x, y, ...room) {
    const { a, b, c, d, e, f } = this.getTransform();
    const scale = Math.hypot(a, b) / devicePixelRatio;
    const [right, down] = [a * x + c * y + e, b * x + d * y + f].map((pixels) => pixels / devicePixelRatio);
    const size = Number(/([0-9.]+)px/.exec(this.font)[1]) * scale;
    if (String(text).trim())
      add(this.canvas, [
        { text, size, x: right, y: down, width: this.measureText(text).width * scale, isUpright: Math.abs(a) < 0.1 },
      ]);
    return fillText.call(this, text, x, y, ...room);
  };
  pen.drawImage = function (source, ...place) {
    add(this.canvas, drawn.get(source) ?? []);
    return drawImage.call(this, source, ...place);
  };
  pen.clearRect = function (...box) {
    drawn.delete(this.canvas); // views clear the whole of it
    return clearRect.apply(this, box);
  };
  Object.defineProperty(canvas, "width", {
    ...width,
    set(pixels) {
      drawn.delete(this); // this clears it, too
      width.set.call(this, pixels);
    },
  });
}
