/** Renders values that may be unknown; a dash has the reason as its tooltip */
import type { ComponentChildren } from 'preact';
import { renderText } from '../frame/display-text.tsx';
import { formatQuantity } from './values.ts';

interface KnownValue<Value> {
  readonly value: Value | null;
  readonly reason?: string | null | undefined;
}

const renderUnknown = (reason: string | null | undefined): ComponentChildren => (
  <span class="soft" title={reason ?? ''}>
    –<span class="sr-only"> no data: {reason}</span>
  </span>
);

/** Formats a number with a UCUM unit. */
export const renderKnownNumber = ({ value, reason }: KnownValue<number>, unit = ''): ComponentChildren =>
  value === null ? renderUnknown(reason) : formatQuantity(value, unit);

/** Formats a share between 0 and 1 in percent. */
export const renderKnownRatio = ({ value, reason }: KnownValue<number>): ComponentChildren =>
  value === null ? renderUnknown(reason) : `${(100 * value).toFixed(1)} %`;

export const renderKnownText = ({ value, reason }: KnownValue<string>): ComponentChildren =>
  value === null ? renderUnknown(reason) : <bdi>{renderText(value)}</bdi>;
