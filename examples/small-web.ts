/** A small web: each page and the links on it. */
export const SMALL_WEB: ReadonlyMap<string, readonly string[]> = new Map([
  ['/', ['/shop', '/blog', '/about']],
  ['/shop', ['/shop/tea', '/shop/cups', '/']],
  ['/shop/tea', ['/shop/tea/green', '/shop/tea/black', '/blog/water']],
  ['/shop/tea/green', ['/shop/cups']],
  ['/shop/tea/black', ['/shop/tea']],
  ['/shop/cups', ['/shop/cups/large', '/shop/tea']],
  ['/shop/cups/large', []],
  ['/blog', ['/blog/water', '/blog/leaves', '/shop/tea']],
  ['/blog/water', ['/']],
  ['/blog/leaves', ['/about']],
  ['/about', ['/about/us', '/']],
  ['/about/us', []],
]);
