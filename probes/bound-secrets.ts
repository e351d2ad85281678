/** Secrets of a check and their hosts: a secret may be sent only to its own hosts, however it got into a text. */
import type { ProbeVariable } from '../schemas/synthetic-work.ts';
import { isBoundTo } from '../subjects/synthetics/problems.ts';
import { findValueNames } from '../subjects/synthetics/templates.ts';
import { SecretFinder, type TextRange } from './redact-secrets.ts';

/** The hosts to which each of some secrets is bound */
export type BoundHosts = readonly (readonly string[])[];

/** Minimum length of a secret that is searched in extracted values: shorter ones occur by chance. */
const minLength = 4;
/** Minimum length of a secret that is searched in all texts, which may have words such as `admin` */
const minDistinctLength = 8;
/** Length of the text around an extracted value that is searched for secrets */
const maxContextLength = 65_536;
/** Maximum length of an extracted value */
const maxValueLength = 16_384;

interface BoundSecret {
  readonly hosts: readonly string[];
  readonly isDistinct: boolean;
  readonly finder: SecretFinder;
}

/** What leaves the probe */
export interface SentTexts {
  readonly rendered: readonly string[];
  /** Extracted values that they contain */
  readonly values: readonly string[];
}

/** Returns the values that texts of the check use. */
export const usedValues = (texts: readonly string[], values: Readonly<Record<string, string>>): readonly string[] =>
  texts.flatMap(findValueNames).map((name) => values[name] ?? '');

export class BoundSecrets {
  readonly #secrets: BoundSecret[] = [];

  constructor(variables: readonly ProbeVariable[]) {
    for (const variable of variables) this.add(variable);
  }

  /** Adds a secret, such as a one-time code that a step sends. */
  add({ value, hosts }: ProbeVariable): void {
    const { length } = value.trim();
    if (hosts === undefined || length < minLength) return;
    this.#secrets.push({ hosts, isDistinct: length >= minDistinctLength, finder: new SecretFinder([value]) });
  }

  /** Returns the hosts of each secret that the texts contain. */
  findHosts(sent: SentTexts): BoundHosts {
    return this.#secrets.filter((secret) => isContained(secret, sent)).map(({ hosts }) => hosts);
  }

  /** Whether the texts contain a secret that is not bound to the host. */
  isUnbound(sent: SentTexts, host: string): boolean {
    return this.#secrets.some((secret) => !isBoundTo(secret.hosts, host) && isContained(secret, sent));
  }

  /**
   * Returns a part of a text as a value; undefined for a part of a secret, which could not be recognized without the
   * rest.
   */
  extract(text: string, { from, to }: TextRange): string | undefined {
    const end = Math.min(to, from + maxValueLength);
    const start = Math.max(0, from - maxContextLength);
    const context = text.slice(start, end + maxContextLength);
    const isPart = (range: TextRange): boolean =>
      range.from + start < end && range.to + start > from && (range.from + start < from || range.to + start > end);
    return this.#secrets.some(({ finder }) => finder.find(context).some(isPart)) ? undefined : text.slice(from, end);
  }
}

function isContained({ finder, isDistinct }: BoundSecret, { rendered, values }: SentTexts): boolean {
  return (isDistinct ? [...rendered, ...values] : values).some((text) => finder.find(text).length > 0);
}
