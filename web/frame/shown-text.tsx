/** Renders text from senders as text only. Characters that would change its appearance are displayed by code point. */
import type { ComponentChildren } from 'preact';

/** Control characters, zero-width characters, and characters that change the direction of text */
const hidden = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

const allowedControls = new Set(['\n', '\t']);

/** Renders a text with its hidden characters as marks. */
export const shownText = (text: string, { lines = false }: { readonly lines?: boolean } = {}): ComponentChildren => {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (lines && allowedControls.has(character)) continue;
    pieces.push(text.slice(at, index));
    at = index + character.length;
    pieces.push(allowedControls.has(character) ? ' ' : <span class="hidden-character">{numberOf(character)}</span>);
  }
  if (pieces.length === 0) return text;
  return [...pieces, text.slice(at)];
};

/** Returns a text without hidden characters unchanged, so that it can be a row cell without an element. */
export const inCell = (text: string): ComponentChildren => {
  const pieces = shownText(text);
  return typeof pieces === 'string' ? pieces : <bdi>{pieces}</bdi>;
};

const numberOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns the text with marks as a string, for names and titles. */
export const markedText = (text: string): string => text.replace(hidden, numberOf);

/** Returns a telemetry value as text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
