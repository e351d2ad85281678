/** Events of browsers: what every SDK reports, in one form. */
import { z } from 'zod';

/**
 * Attribute that marks the telemetry of browsers. The receiver for browsers sets it on every resource; OpenTelemetry's
 * SDK for browsers sends it too, so telemetry through a collector is recognized as well.
 */
export const sdkLanguageKey = 'telemetry.sdk.language';
export const browserSdkLanguage = 'webjs';

/** Kinds of events. */
export const rumEventKinds = [
  'view',
  'vital',
  'action',
  'frustration',
  'error',
  'resource',
  'request',
  'navigation',
  'session',
  'log',
  'custom',
] as const;
export type RumEventKind = (typeof rumEventKinds)[number];

export const frustrationTypes = ['rage_click', 'dead_click', 'error_click'] as const;
export type FrustrationType = (typeof frustrationTypes)[number];

export const vitalRatings = ['good', 'needs-improvement', 'poor'] as const;
export type VitalRating = (typeof vitalRatings)[number];

/**
 * Upper limits of a good value and of one that needs improvement, in milliseconds; CLS has no unit. They are Google's
 * thresholds.
 */
export const vitalThresholds = {
  LCP: [2500, 4000],
  INP: [200, 500],
  CLS: [0.1, 0.25],
  FCP: [1800, 3000],
  TTFB: [800, 1800],
} as const;
export type VitalName = keyof typeof vitalThresholds;
export const vitalNames = Object.keys(vitalThresholds) as VitalName[];

export const deviceTypes = ['desktop', 'mobile', 'tablet', 'other'] as const;

/** Phases of loading a document, in milliseconds since the navigation began or of the phase alone. */
export const loadPhases = [
  'redirect',
  'dns',
  'connect',
  'tls',
  'waiting',
  'download',
  'domInteractive',
  'domContentLoaded',
  'domComplete',
  'load',
] as const;
export type LoadPhase = (typeof loadPhases)[number];

/** Name of the page group of pages beyond the limit of groups of an application. */
export const otherPages = 'other';
export const maxPageGroups = 1_000;

/** Maximum characters of texts. */
export const rumLimits = { id: 128, name: 256, url: 2_048, text: 1_024, stack: 16_384, attributes: 64 } as const;

const Id = z.string().max(rumLimits.id);
const Name = z.string().max(rumLimits.name);
const Url = z.string().max(rumLimits.url);
const Milliseconds = z.number().min(0).max(1e9);

/** One event of a page. Texts are empty and numbers are null where the SDK does not report them. */
export const RumEvent = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  application: z.string().describe('`service.name` of the resource'),
  environment: Name,
  release: Name,
  at: z.string().describe('Time of the event, ISO 8601 with 9 fractional digits'),
  timeMs: z.number(),
  kind: z.enum(rumEventKinds),
  name: Name.describe('Name of the vital, action, frustration, log level or custom event'),
  sessionId: Id.describe('Empty if the SDK has no sessions'),
  viewId: Id,
  route: z.string().max(rumLimits.text).describe('Route or name of the view, if the SDK reports one'),
  page: z.string().max(rumLimits.url).describe('Page group'),
  url: Url.describe('URL of the page'),
  referrer: Url,
  userId: Name,
  value: z.number().min(0).max(1e12).nullable().describe('Value of a vital or measurement'),
  rating: z.enum(['', ...vitalRatings]),
  navigationType: Name.describe('How the page was reached, such as `navigate`, `reload` or `back-forward-cache`'),
  eventId: Id.describe('ID of the vital, whose last value counts; of other events, so that a repetition is dropped'),
  element: z.string().max(rumLimits.text).describe('Selector of the element'),
  elementText: z.string().max(rumLimits.name),
  durationMs: Milliseconds.nullable(),
  phases: z.partialRecord(z.enum(loadPhases), Milliseconds),
  target: Url.describe('URL of the resource or request'),
  resourceType: Name,
  host: Name.describe('Host of the resource or request'),
  isFirstParty: z.boolean().nullable(),
  bytes: z.number().min(0).max(1e15).nullable().describe('Transferred bytes'),
  isCached: z.boolean().nullable(),
  isBlocking: z.boolean().nullable().describe('Whether the resource blocks rendering'),
  method: Name,
  status: z.int().min(0).max(65_535).describe('HTTP status; 0 if unknown'),
  message: z.string().max(rumLimits.text),
  errorType: Name,
  stack: z.string().max(rumLimits.stack),
  fingerprint: Name.describe('Fingerprint of the error group'),
  isHandled: z.boolean().nullable(),
  traceId: z.string().max(32),
  spanId: z.string().max(16),
  recordId: z.string().max(rumLimits.id).describe('ID of the log record; empty for a span'),
  device: z.enum(['', ...deviceTypes]),
  browser: Name,
  browserVersion: Name,
  os: Name,
  osVersion: Name,
  country: z.string().max(2),
  sdk: Name,
  sdkVersion: Name,
  sampling: z.number().min(0).max(1).nullable().describe('Share of sessions that the SDK reports'),
  attributes: z.record(z.string().max(rumLimits.name), z.string().max(rumLimits.text)),
});
export type RumEvent = z.output<typeof RumEvent>;
