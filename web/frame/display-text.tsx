/** Renders text from senders safely. Characters that would change its appearance are displayed as code points. */
import type { ComponentChildren } from 'preact';
import { findHiddenCharacters, toCodePoint } from './hidden-characters.ts';

const allowedControls = new Set(['\n', '\t']);

/** Renders a text with its hidden characters as code points. */
export const renderText = (text: string, { lines = false }: { readonly lines?: boolean } = {}): ComponentChildren => {
  const nodes: ComponentChildren[] = [];
  let position = 0;
  for (const { character, index } of findHiddenCharacters(text)) {
    if (lines && allowedControls.has(character)) continue;
    nodes.push(text.slice(position, index));
    position = index + character.length;
    nodes.push(allowedControls.has(character) ? ' ' : <span class="hidden-character">{toCodePoint(character)}</span>);
  }
  if (nodes.length === 0) return text;
  return [...nodes, text.slice(position)];
};

/** Renders a cell text. A text without hidden characters stays a string, which needs no element of its own. */
export const renderCellText = (text: string): ComponentChildren => {
  const pieces = renderText(text);
  return typeof pieces === 'string' ? pieces : <bdi>{pieces}</bdi>;
};

/** Returns a value as text: strings unchanged, others as JSON. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
