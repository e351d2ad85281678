/** Formats and links that several views of the area use */
import type { ComponentChildren } from 'preact';
import { formatNumber, formatQuantity } from '../../charts/values.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { Link } from '../../frame/link.tsx';
import { toSessionPage } from '../../frame/resource-links.ts';
import type { Session, Vital } from './calls.ts';

export const areaPath = '/digital-experience';

/** Link to a session by the start of its id */
export const SessionLink = ({ id, children }: { readonly id: string; readonly children?: ComponentChildren }) => (
  <Link url={toSessionPage(id)}>{children ?? <code>{renderText(id.slice(0, 8))}</code>}</Link>
);

export const formatMs = (ms: number | null): string => (ms === null ? '–' : formatQuantity(ms, 'ms'));

/** Formats the value of a vital: a duration, or a number for CLS. */
export const formatVital = (value: number | undefined, unit: Vital['unit']): string =>
  value === undefined ? '' : unit === '1' ? formatNumber(value) : formatMs(value);

/** Formats a browser with its major version: `Chrome 140`. */
export const formatBrowser = ({ browser, browserVersion }: Session): string =>
  [browser, browserVersion?.split('.')[0]].filter(Boolean).join(' ');

export const formatSystem = ({ os, osVersion }: Session): string => [os, osVersion].filter(Boolean).join(' ');

/** Formats a browser and its system: `Chrome 140 on Android 16`. */
export const formatDevice = (session: Session): string => {
  const { device } = session;
  return [formatBrowser(session), formatSystem(session)].filter((text) => text !== '').join(' on ') || (device ?? '');
};

const ratingTitles: Readonly<Record<string, readonly [tone: Tone, title: string]>> = {
  good: ['ok', 'Good'],
  'needs-improvement': ['warning', 'Needs improvement'],
  poor: ['critical', 'Poor'],
};

/** Rating of a vital; without one, there are too few samples. */
export const Rating = ({ rating }: { readonly rating: string | null }) => {
  const known = ratingTitles[rating ?? ''];
  return known === undefined ? <Badge>Too few samples</Badge> : <Badge tone={known[0]}>{known[1]}</Badge>;
};

/** Count that is red if there is any */
export const BadCount = ({ count }: { readonly count: number }) => (
  <span class={count > 0 ? 'text-error' : 'soft'}>{formatNumber(count)}</span>
);
