/** Options of the script: attributes of its element, or the argument of `oiq.start`. */

export type Consent = 'pending' | 'granted' | 'denied';

export interface Options {
  /** Browser key, which begins with `oiq_pk_` */
  readonly key: string;
  /** Origin that receives the telemetry: that of the script, unless set */
  readonly endpoint: string;
  readonly release: string;
  readonly environment: string;
  /** Share of sessions that are reported, from 0 to 1 */
  readonly sessionSample: number;
  /** Share of reported sessions that are recorded, from 0 to 1 */
  readonly replaySample: number;
  /** Whether the minute before an error is recorded in the other reported sessions */
  readonly replayOnError: boolean;
  readonly consent: Consent;
  /** Origins whose requests get a `traceparent` header */
  readonly traceOrigins: readonly string[];
}

const parseShare = (text: string | number | undefined, fallback: number): number => {
  const share = text === undefined || text === '' ? fallback : Number(text);
  return share >= 0 && share <= 1 ? share : fallback;
};

const parseConsent = (text: string | undefined): Consent =>
  text === 'pending' || text === 'denied' ? text : 'granted';

const parseList = (list: string | readonly string[] | undefined): readonly string[] =>
  typeof list === 'string' ? list.split(/[\s,]+/).filter((entry) => entry !== '') : (list ?? []);

/** Options as they are given: texts in attributes, any type in a call. */
export type GivenOptions = { readonly [Name in keyof Options]?: string | Options[Name] | undefined };

/** Returns the options with their defaults; undefined without a key. Invalid values count as absent. */
export const readOptions = (given: GivenOptions, scriptUrl: string): Options | undefined => {
  if (given.key === undefined || given.key === '') return undefined;
  return {
    key: given.key,
    endpoint: new URL(given.endpoint ?? scriptUrl, scriptUrl).origin,
    release: given.release ?? '',
    environment: given.environment ?? '',
    sessionSample: parseShare(given.sessionSample, 1),
    replaySample: parseShare(given.replaySample, 0),
    replayOnError: String(given.replayOnError ?? false) === 'true',
    consent: parseConsent(given.consent),
    traceOrigins: parseList(given.traceOrigins),
  };
};
