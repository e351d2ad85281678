/** Values that may be unknown, with the reason */
import type { ComponentChildren } from 'preact';
import { shownText } from '../frame/shown-text.tsx';
import { shownValue } from './values.ts';

interface Known<Value> {
  readonly value: Value | null;
  readonly reason?: string | null | undefined;
}

const unknown = (reason: string | null | undefined): ComponentChildren => (
  <span class="soft" title={reason ?? ''}>
    –<span class="sr-only"> no data: {reason}</span>
  </span>
);

/** Formats a number with a UCUM unit. */
export const knownNumber = ({ value, reason }: Known<number>, unit = ''): ComponentChildren =>
  value === null ? unknown(reason) : shownValue(value, unit);

/** Formats a share between 0 and 1 in percent. */
export const knownShare = ({ value, reason }: Known<number>): ComponentChildren =>
  value === null ? unknown(reason) : `${(100 * value).toFixed(1)} %`;

export const knownText = ({ value, reason }: Known<string>): ComponentChildren =>
  value === null ? unknown(reason) : <bdi>{shownText(value)}</bdi>;
