/** Converts an HTML page to text with headings. Omits elements that a browser would execute or hide. */

/** A line of text, or a heading with a level from 1 to 6 */
export interface Line {
  readonly level: number;
  readonly text: string;
}

/** Elements that are omitted with their content */
const skipped = new Set(
  ['script', 'style', 'template', 'noscript', 'iframe', 'object', 'embed', 'svg', 'math', 'head', 'nav'].concat([
    ...['select', 'textarea', 'button', 'form'],
  ]),
);
/** Elements whose content is text up to the end tag */
const raw = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noscript']);

const inline = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  rarr: '→',
  larr: '←',
  times: '×',
  deg: '°',
  micro: 'µ',
};

const entity = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g;

const decoded = (text: string): string =>
  text.replace(entity, (whole, decimal?: string, hexadecimal?: string, name = '') => {
    if (decimal === undefined && hexadecimal === undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '';
  });

const tagName = /^\/?([a-zA-Z][a-zA-Z0-9-]{0,31})/;

/** Returns the index after a tag that begins at `from`; a `>` in quotes does not end the tag. */
const endOfTag = (html: string, from: number): number => {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const character = html[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at + 1;
  }
  return html.length;
};

class Reader {
  readonly lines: Line[] = [];
  title = '';
  #text = '';
  #level = 0;
  #isPre = false;
  /** Name of the current omitted element */
  #skipped: string | undefined;
  #depth = 0;
  readonly #html: string;
  /** Names of raw elements without a further end tag, which are not searched again */
  readonly #endless = new Set<string>();

  constructor(html: string) {
    this.#html = html;
  }

  read(): this {
    const html = this.#html;
    for (let at = 0; at < html.length; ) {
      const open = html.indexOf('<', at);
      this.#write(html.slice(at, open < 0 ? html.length : open));
      if (open < 0) break;
      at = this.#markup(open);
    }
    this.#endLine();
    return this;
  }

  /** Reads markup that begins with `<`, and returns its end. */
  #markup(open: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4);
      return end < 0 ? html.length : end + 3;
    }
    const next = html[open + 1] ?? '';
    if (next === '!' || next === '?') return endOfTag(html, open + 1);
    const name = tagName.exec(html.slice(open + 1, open + 34))?.[1]?.toLowerCase();
    if (name === undefined) {
      this.#write('<');
      return open + 1;
    }
    const end = endOfTag(html, open + 1);
    if (next === '/') this.#close(name);
    else if (raw.has(name)) return this.#rawElement(name, end);
    else this.#open(name, html[end - 2] === '/');
    return end;
  }

  #rawElement(name: string, begin: number): number {
    const html = this.#html;
    const end = this.#endOfRaw(name, begin);
    if (name === 'title' && this.title === '') this.title = decoded(html.slice(begin, end)).trim().replace(/\s+/g, ' ');
    return end >= html.length ? end : endOfTag(html, end + 2);
  }

  #endOfRaw(name: string, begin: number): number {
    const html = this.#html;
    if (this.#endless.has(name)) return html.length;
    for (let at = html.indexOf('</', begin); at >= 0; at = html.indexOf('</', at + 2))
      if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
    this.#endless.add(name);
    return html.length;
  }

  #open(name: string, isClosed: boolean): void {
    if (this.#skipped !== undefined) {
      if (name === this.#skipped && !isClosed) this.#depth++;
      return;
    }
    if (skipped.has(name)) {
      if (isClosed) return;
      this.#skipped = name;
      this.#depth = 1;
      return;
    }
    if (inline.has(name)) return;
    this.#endLine();
    if (/^h[1-6]$/.test(name)) this.#level = Number(name[1]);
    if (name === 'pre') this.#isPre = true;
    if (name === 'li') this.#text = '- ';
  }

  #close(name: string): void {
    if (this.#skipped !== undefined) {
      if (name === this.#skipped) this.#depth--;
      if (this.#depth <= 0) this.#skipped = undefined;
      return;
    }
    if (inline.has(name)) return;
    this.#endLine();
    if (name === 'pre') this.#isPre = false;
  }

  #write(text: string): void {
    if (this.#skipped !== undefined || text === '') return;
    const plain = decoded(text);
    if (!this.#isPre) {
      this.#text += plain.replace(/\s+/g, ' ');
      return;
    }
    const [first = '', ...others] = plain.split('\n');
    this.#text += first;
    for (const line of others) {
      this.#endLine();
      this.#text = line;
    }
  }

  #endLine(): void {
    const text = this.#isPre ? this.#text.trimEnd() : this.#text.trim();
    if (text !== '' && text !== '-') this.lines.push({ level: this.#level, text });
    this.#text = '';
    this.#level = 0;
  }
}

/** Parses HTML in linear time. */
export const readHtml = (html: string): { readonly title: string; readonly lines: readonly Line[] } =>
  new Reader(html).read();
