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

const quantifierPattern = /^([*+?]|\{(\d{1,4})(,?)(\d{0,4})\})/;

const parseBounds = (sign: string, low = '', comma = '', high = ''): readonly [least: number, most: number] => {
  if (sign === '?') return [0, 1];
  if (sign === '*' || sign === '+') return [sign === '*' ? 0 : 1, Number.POSITIVE_INFINITY];
  if (comma === '') return [Number(low), Number(low)];
  return [Number(low), high === '' ? Number.POSITIVE_INFINITY : Number(high)];
};

class RegexReader {
  readonly #text: string;
  readonly #flags: RegexFlags;
  #position = 0;

  constructor(text: string, flags: RegexFlags) {
    this.#text = text;
    this.#flags = flags;
  }

  read(): RegexNode {
    const node = this.#readChoice(0);
    if (this.#position < this.#text.length) throw new UnsupportedSyntax();
    return node;
  }

  #readChoice(depth: number): RegexNode {
    if (depth > maxDepth) throw new UnsupportedSyntax();
    const parts = [this.#readSequence(depth)];
    while (this.#text[this.#position] === '|') {
      this.#position++;
      parts.push(this.#readSequence(depth));
    }
    return parts.length === 1 ? (parts[0] as RegexNode) : { is: 'choice', parts };
  }

  #readSequence(depth: number): RegexNode {
    const parts: RegexNode[] = [];
    for (
      let next = this.#text[this.#position];
      next !== undefined && next !== '|' && next !== ')';
      next = this.#text[this.#position]
    )
      parts.push(this.#readQuantifier(this.#readAtom(depth)));
    return parts.length === 1 ? (parts[0] as RegexNode) : { is: 'sequence', parts };
  }

  #readQuantifier(part: RegexNode): RegexNode {
    const quantifierMatch = quantifierPattern.exec(this.#text.slice(this.#position, this.#position + 16));
    if (quantifierMatch === null) return part;
    if (part.is === 'anchor') throw new UnsupportedSyntax();
    const [quantifierText, sign = ''] = quantifierMatch;
    this.#position += quantifierText.length;
    const isLazy = this.#text[this.#position] === '?';
    if (isLazy) this.#position++;
    if (/[*+]/.test(this.#text[this.#position] ?? '')) throw new UnsupportedSyntax();
    const [min, max] = parseBounds(sign, quantifierMatch[2], quantifierMatch[3], quantifierMatch[4]);
    if (max < min) throw new UnsupportedSyntax();
    return { is: 'repeat', part, min, max, lazy: isLazy };
  }

  #readAtom(depth: number): RegexNode {
    const character = this.#text[this.#position++] as string;
    switch (character) {
      case '(':
        return this.#readGroup(depth);
      case '[':
        return this.#readClass();
      case '.':
        return { is: 'class', source: this.#flags.dotAll ? '[\\s\\S]' : '[^\\n]' };
      case '^':
        return { is: 'anchor', source: this.#flags.multiline ? '(?<![^\\n])' : '^' };
      case '$':
        return { is: 'anchor', source: this.#flags.multiline ? '(?![^\\n])' : '$' };
      case '\\':
        return this.#readEscape();
      case '*':
      case '+':
      case '?':
        throw new UnsupportedSyntax();
      default:
        return this.#createCharacter(character);
    }
  }

  #createCharacter(text: string): RegexNode {
    if (/[\ud800-\udfff]/.test(text)) throw new UnsupportedSyntax();
    return { is: 'character', text };
  }

  #readGroup(depth: number): RegexNode {
    if (this.#text[this.#position] === '?') {
      if (this.#text[this.#position + 1] !== ':') throw new UnsupportedSyntax();
      this.#position += 2;
    }
    const inner = this.#readChoice(depth + 1);
    if (this.#text[this.#position++] !== ')') throw new UnsupportedSyntax();
    // A separate node, so that a following quantifier applies to the complete group.
    return { is: 'sequence', parts: [inner] };
  }

  #readEscape(): RegexNode {
    const next = this.#text[this.#position++] ?? '';
    const classRange = classEscapes[next.toLowerCase()];
    if (classRange !== undefined)
      return { is: 'class', source: next === next.toLowerCase() ? `[${classRange}]` : `[^${classRange}]` };
    if (next === 'b') return { is: 'anchor', source: '\\b' };
    return this.#createCharacter(this.#readEscapedCharacter(next));
  }

  #readEscapedCharacter(next: string): string {
    const control = controls[next];
    if (control !== undefined) return control;
    if (next === 'x') {
      const [, digits = ''] = /^([0-9A-Fa-f]{2})/.exec(this.#text.slice(this.#position, this.#position + 2)) ?? [];
      if (digits === '') throw new UnsupportedSyntax();
      this.#position += 2;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    if (next === '' || /[0-9A-Za-z]/.test(next)) throw new UnsupportedSyntax();
    return next;
  }

  #readClass(): RegexNode {
    let source = '[';
    if (this.#text[this.#position] === '^') {
      source += '^';
      this.#position++;
    }
    for (let isFirst = true; ; isFirst = false) {
      const character = this.#text[this.#position++];
      if (character === undefined || (character === '[' && this.#text[this.#position] === ':'))
        throw new UnsupportedSyntax();
      if (character === ']' && !isFirst) return { is: 'class', source: `${source}]` };
      source += this.#readClassMember(character);
    }
  }

  #readClassMember(character: string): string {
    if (character === '\\') {
      const next = this.#text[this.#position++] ?? '';
      const classRange = classEscapes[next];
      if (classRange !== undefined) return classRange;
      if (next === 'b') throw new UnsupportedSyntax();
      return escapeCharacter(this.#readEscapedCharacter(next));
    }
    if (/[\ud800-\udfff]/.test(character)) throw new UnsupportedSyntax();
    return character === '-' ? '-' : escapeCharacter(character);
  }
}

/** Returns the tree of an expression; `undefined` if it uses unsupported syntax. */
export const parseRegexTree = (source: string, flags: RegexFlags): RegexNode | undefined => {
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
const unboundedCount: SearchPathCount = { factor: Number.POSITIVE_INFINITY, degree: 0 };

export const countPaths = (node: RegexNode): SearchPathCount => {
  switch (node.is) {
    case 'sequence': {
      const partCounts = node.parts.map(countPaths);
      return {
        factor: partCounts.reduce((product, { factor }) => product * factor, 1),
        degree: partCounts.reduce((sum, { degree }) => sum + degree, 0),
      };
    }
    case 'choice': {
      const partCounts = node.parts.map(countPaths);
      return {
        factor: partCounts.reduce((sum, { factor }) => sum + factor, 0),
        degree: Math.max(...partCounts.map(({ degree }) => degree)),
      };
    }
    case 'repeat': {
      const inner = countPaths(node.part);
      if (node.max === Number.POSITIVE_INFINITY)
        return inner.factor === 1 && inner.degree === 0 ? { factor: 1, degree: 1 } : unboundedCount;
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
  const walk = (child: RegexNode): void => {
    if (child.is === 'character') run += child.text;
    else if (child.is === 'sequence') child.parts.forEach(walk);
    else if (child.is !== 'anchor') {
      endRun();
      if (child.is === 'repeat' && child.min > 0) sets.push(...findRequiredTexts(child.part));
      if (child.is === 'choice') sets.push(...findRequiredByChoice(child.parts));
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

const findRequiredByChoice = (parts: readonly RegexNode[]): string[][] => {
  const requiredSets = parts.map((part) => selectRequiredSet(findRequiredTexts(part)));
  return requiredSets.every((set) => set !== undefined) ? [(requiredSets as string[][]).flat()] : [];
};
