/**
 * Words that identifiers, file names, API fields and texts must not use, each with its replacement
 * (`docs/glossary.md`), and functions that list those names and texts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isIdentifier, isPrivateIdentifier } from 'typescript/unstable/ast';
import { visitNodes, visitSources } from './project.ts';

/** Denied words of identifiers in lower case, with their replacement. */
export const deniedWords: ReadonlyMap<string, string> = new Map([
  ['told', 'reported, emitted, published, notified or a noun'],
  ['tell', 'report, emit, publish or notify'],
  ['tells', 'reports, emits, publishes or notifies'],
  ['telling', 'reporting, or a noun'],
  ['asked', 'requested, or a noun such as query, request or parameters'],
  ['asks', 'requests, or a noun'],
  ['asking', 'query, request or context'],
  ['kept', 'stored, cached or retained'],
  ['said', 'declared, parsed or a noun such as input or message'],
  ['unsaid', 'unmatched or unspecified'],
  ['heard', 'received or lastSeen'],
  ['standing', 'status or state'],
  ['standings', 'statuses or states'],
  ['beside', 'companion, extra or sidePanel'],
  ['fence', 'egressPolicy, tenantFilter or guard'],
  ['fences', 'egress policies, tenant filters or guards'],
  ['anew', 'a verb with re-, such as reload or restart'],
  ['usual', 'default, typical or normal'],
  ['wanted', 'requested, expected or required'],
  ['deed', 'action'],
  ['deeds', 'actions'],
  ['foresight', 'forecaster or prediction'],
  ['witness', 'requiredLiteral'],
  ['slab', 'buffer'],
  ['slabs', 'bufferPool'],
  ['beat', 'heartbeat'],
  ['beats', 'heartbeats'],
  ['shelf', 'index or cache'],
  ['learnt', 'learned or trained'],
  ['lacks', 'missing'],
  ['became', 'a noun for the new value'],
]);

/** Denied prefixes of limits, with their replacement. */
const deniedPrefixes: readonly (readonly [RegExp, string])[] = [
  [/^[#_]*most(?=[A-Z])/, 'max'],
  [/^[#_]*least(?=[A-Z])/, 'min'],
];

/** Splits a name in camel, snake or kebab case into lower-case words. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

/** Suggests a replacement for a name; undefined if the name has no denied word. */
export const betterNameOf = (name: string): string | undefined => {
  const prefix = deniedPrefixes.find(([pattern]) => pattern.test(name));
  if (prefix !== undefined) return prefix[1];
  return wordsOf(name)
    .map((word) => deniedWords.get(word))
    .find((better) => better !== undefined);
};

/** Returns every identifier of the project with a file that uses it. */
export const identifiersOfProject = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  visitSources((file, source) =>
    visitNodes(source, (node) => {
      if ((isIdentifier(node) || isPrivateIdentifier(node)) && !found.has(node.text)) found.set(node.text, file);
    }),
  );
  return found;
};

/** Allowed names, each with its reason. The test fails when one is no longer in use. */
export const exceptions = (): Readonly<Record<'identifiers' | 'fields' | 'texts', Readonly<Record<string, string>>>> =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'vocabulary-exceptions.json'), 'utf8'));

/** Denied phrases in descriptions and messages. */
export const deniedPhrases =
  /\b(?:told|tells?|asked|asks|asking|kept|said|heard|beside|stands still|anew|wanted|so many|so much|so long|stands? (?:in|by|for itself)|held against|is asked|leaves? out|left out|of it is)\b/i;

/** Splits a text into sentences. Code in backticks counts as one word. */
export const sentencesOf = (text: string): string[] =>
  text
    .replace(/`[^`]*`/g, 'code')
    .replace(/\b(?:e\.g|i\.e|vs|etc)\./g, 'abbreviation')
    .split(/(?<=[.!?;:])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
