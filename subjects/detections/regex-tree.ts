/**
 * Parses regular expressions of the syntax that most rules use to a tree. The tree determines the texts that every
 * match contains and the maximum work of JavaScript's engine, and is converted to an equivalent expression in
 * JavaScript syntax.
 */

export type RegexNode =
  | { readonly is: 'character'; readonly text: string }
  /** A class, a dot or an escape such as `\d`, in JavaScript syntax */
  | { readonly is: 'class'; readonly source: string }
  /** Matches no characters */
  | { readonly is: 'anchor'; readonly source: string }
  | { readonly is: 'sequence' | 'choice'; readonly parts: readonly RegexNode[] }
  | {
      readonly is: 'repeat';
      readonly part: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    };

export interface RegexFlags {
  readonly ignoresCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

/** Thrown for unsupported syntax */
class UnsupportedSyntax extends Error {}

const classEscapes: Readonly<Record<string, string>> = {
  d: '0-9',
  w: '0-9A-Za-z_',
  // RE2's whitespace class, which has fewer characters than JavaScript's.
  s: '\\t\\n\\f\\r ',
};
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' };
const maxDepth = 50;

const escapeCharacter = (character: string): string =>
  /[0-9A-Za-z_ ]/.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const quantifier = /^([*+?]|\{(\d{1,4})(,?)(\d{0,4})\})/;

const parseBounds = (sign: string, low = '', comma = '', high = ''): readonly [least: number, most: number] => {
  if (sign === '?') return [0, 1];
  if (sign === '*' || sign === '+') return [sign === '*' ? 0 : 1, Number.POSITIVE_INFINITY];
  if (comma === '') return [Number(low), Number(low)];
  return [Number(low), high === '' ? Number.POSITIVE_INFINITY : Number(high)];
};

class RegexReader {
  readonly #text: string;
  readonly #flags: RegexFlags;
  #at = 0;

  constructor(text: string, flags: RegexFlags) {
    this.#text = text;
    this.#flags = flags;
  }

  read(): RegexNode {
    const node = this.#choice(0);
    if (this.#at < this.#text.length) throw new UnsupportedSyntax();
    return node;
  }

  #choice(depth: number): RegexNode {
    if (depth > maxDepth) throw new UnsupportedSyntax();
    const parts = [this.#sequence(depth)];
    while (this.#text[this.#at] === '|') {
      this.#at++;
      parts.push(this.#sequence(depth));
    }
    return parts.length === 1 ? (parts[0] as RegexNode) : { is: 'choice', parts };
  }

  #sequence(depth: number): RegexNode {
    const parts: RegexNode[] = [];
    for (
      let next = this.#text[this.#at];
      next !== undefined && next !== '|' && next !== ')';
      next = this.#text[this.#at]
    )
      parts.push(this.#readQuantifier(this.#atom(depth)));
    return parts.length === 1 ? (parts[0] as RegexNode) : { is: 'sequence', parts };
  }

  #readQuantifier(part: RegexNode): RegexNode {
    const found = quantifier.exec(this.#text.slice(this.#at, this.#at + 16));
    if (found === null) return part;
    if (part.is === 'anchor') throw new UnsupportedSyntax();
    const [whole, sign = ''] = found;
    this.#at += whole.length;
    const isLazy = this.#text[this.#at] === '?';
    if (isLazy) this.#at++;
    if (/[*+]/.test(this.#text[this.#at] ?? '')) throw new UnsupportedSyntax();
    const [min, max] = parseBounds(sign, found[2], found[3], found[4]);
    if (max < min) throw new UnsupportedSyntax();
    return { is: 'repeat', part, min, max, lazy: isLazy };
  }

  #atom(depth: number): RegexNode {
    const character = this.#text[this.#at++] as string;
    switch (character) {
      case '(':
        return this.#group(depth);
      case '[':
        return this.#class();
      case '.':
        return { is: 'class', source: this.#flags.dotAll ? '[\\s\\S]' : '[^\\n]' };
      case '^':
        return { is: 'anchor', source: this.#flags.multiline ? '(?<![^\\n])' : '^' };
      case '$':
        return { is: 'anchor', source: this.#flags.multiline ? '(?![^\\n])' : '$' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw new UnsupportedSyntax();
      default:
        return this.#character(character);
    }
  }

  #character(text: string): RegexNode {
    if (/[\ud800-\udfff]/.test(text)) throw new UnsupportedSyntax();
    return { is: 'character', text };
  }

  #group(depth: number): RegexNode {
    if (this.#text[this.#at] === '?') {
      if (this.#text[this.#at + 1] !== ':') throw new UnsupportedSyntax();
      this.#at += 2;
    }
    const inner = this.#choice(depth + 1);
    if (this.#text[this.#at++] !== ')') throw new UnsupportedSyntax();
    // A separate node, so that a following quantifier applies to the complete group.
    return { is: 'sequence', parts: [inner] };
  }

  #escape(): RegexNode {
    const next = this.#text[this.#at++] ?? '';
    const named = classEscapes[next.toLowerCase()];
    if (named !== undefined) return { is: 'class', source: next === next.toLowerCase() ? `[${named}]` : `[^${named}]` };
    if (next === 'b') return { is: 'anchor', source: '\\b' };
    return this.#character(this.#escapedCharacter(next));
  }

  #escapedCharacter(next: string): string {
    const control = controls[next];
    if (control !== undefined) return control;
    if (next === 'x') {
      const [, digits = ''] = /^([0-9A-Fa-f]{2})/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
      if (digits === '') throw new UnsupportedSyntax();
      this.#at += 2;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    if (next === '' || /[0-9A-Za-z]/.test(next)) throw new UnsupportedSyntax();
    return next;
  }

  #class(): RegexNode {
    let source = '[';
    if (this.#text[this.#at] === '^') {
      source += '^';
      this.#at++;
    }
    for (let isFirst = true; ; isFirst = false) {
      const character = this.#text[this.#at++];
      if (character === undefined || (character === '[' && this.#text[this.#at] === ':')) throw new UnsupportedSyntax();
      if (character === ']' && !isFirst) return { is: 'class', source: `${source}]` };
      source += this.#member(character);
    }
  }

  #member(character: string): string {
    if (character === '\\') {
      const next = this.#text[this.#at++] ?? '';
      const named = classEscapes[next];
      if (named !== undefined) return named;
      if (next === 'b') throw new UnsupportedSyntax();
      return escapeCharacter(this.#escapedCharacter(next));
    }
    if (/[\ud800-\udfff]/.test(character)) throw new UnsupportedSyntax();
    return character === '-' ? '-' : escapeCharacter(character);
  }
}

/** Returns the tree of an expression; `undefined` if it uses unsupported syntax. */
export const regexTree = (source: string, flags: RegexFlags): RegexNode | undefined => {
  try {
    return new RegexReader(source, flags).read();
  } catch (error) {
    if (error instanceof UnsupportedSyntax) return undefined;
    throw error;
  }
};

/** Returns the expression in JavaScript syntax. */
export const toJavaScript = (node: RegexNode): string => {
  switch (node.is) {
    case 'character':
      return escapeCharacter(node.text);
    case 'class':
    case 'anchor':
      return node.source;
    case 'sequence':
      return `(?:${node.parts.map(toJavaScript).join('')})`;
    case 'choice':
      return `(?:${node.parts.map(toJavaScript).join('|')})`;
    default: {
      const max = node.max === Number.POSITIVE_INFINITY ? '' : node.max;
      return `(?:${toJavaScript(node.part)}){${node.min},${max}}${node.lazy ? '?' : ''}`;
    }
  }
};

/** Number of paths of a backtracking search: `factor` times the text's length to the power of `degree` */
export interface SearchPathCount {
  readonly factor: number;
  readonly degree: number;
}
const unbounded: SearchPathCount = { factor: Number.POSITIVE_INFINITY, degree: 0 };

export const countPaths = (node: RegexNode): SearchPathCount => {
  switch (node.is) {
    case 'sequence': {
      const ways = node.parts.map(countPaths);
      return {
        factor: ways.reduce((product, { factor }) => product * factor, 1),
        degree: ways.reduce((sum, { degree }) => sum + degree, 0),
      };
    }
    case 'choice': {
      const ways = node.parts.map(countPaths);
      return {
        factor: ways.reduce((sum, { factor }) => sum + factor, 0),
        degree: Math.max(...ways.map(({ degree }) => degree)),
      };
    }
    case 'repeat': {
      const inner = countPaths(node.part);
      if (node.max === Number.POSITIVE_INFINITY)
        return inner.factor === 1 && inner.degree === 0 ? { factor: 1, degree: 1 } : unbounded;
      return { factor: (node.max - node.min + 1) * inner.factor ** node.max, degree: inner.degree * node.max };
    }
    default:
      return { factor: 1, degree: 0 };
  }
};

/** Returns sets of texts in lower case; every match contains at least one text of each set. */
export const findRequiredTexts = (node: RegexNode): string[][] => {
  const sets: string[][] = [];
  let run = '';
  const endRun = (): void => {
    if (run !== '') sets.push([run.toLowerCase()]);
    run = '';
  };
  const walk = (each: RegexNode): void => {
    if (each.is === 'character') run += each.text;
    else if (each.is === 'sequence') each.parts.forEach(walk);
    else if (each.is !== 'anchor') {
      endRun();
      if (each.is === 'repeat' && each.min > 0) sets.push(...findRequiredTexts(each.part));
      if (each.is === 'choice') sets.push(...requiredByChoice(each.parts));
    }
  };
  walk(node);
  endRun();
  return sets;
};

/** Returns the set whose shortest text is the longest. */
export const selectRequiredSet = (sets: readonly string[][]): string[] | undefined => {
  const minLength = (set: readonly string[]): number => Math.min(...set.map(({ length }) => length));
  return sets.reduce<string[] | undefined>(
    (best, set) => (best === undefined || minLength(set) > minLength(best) ? set : best),
    undefined,
  );
};

const requiredByChoice = (parts: readonly RegexNode[]): string[][] => {
  const best = parts.map((part) => selectRequiredSet(findRequiredTexts(part)));
  return best.every((set) => set !== undefined) ? [(best as string[][]).flat()] : [];
};
