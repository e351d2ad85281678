/** The page as it was when a step of a browser ended: where it was, how fast it was there, and what it asked for and complained of. */
import { shownText } from '../../frame/shown-text.tsx';
import { Heads } from '../../lists/heads.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import type { Run } from './calls.ts';
import { shownMs } from './shown.tsx';

type Page = NonNullable<Run['steps'][number]['page']>;
type Asked = Page['requests'][number];

const vitalNames = {
  lcp: 'largest paint',
  fcp: 'first paint',
  ttfb: 'first byte',
  cls: 'layout shift',
} as const;

/** Each that is known, in the order of the list. */
const shownVitals = (vitals: Page['vitals']): string =>
  (Object.keys(vitalNames) as (keyof typeof vitalNames)[])
    .flatMap((name) => {
      const value = vitals[name];
      return value === undefined ? [] : [`${vitalNames[name]} ${name === 'cls' ? value : shownMs(value)}`];
    })
    .join(', ');

const endOf = ({ startMs, durationMs }: Asked): number => startMs + (durationMs ?? 0);

/** What came of a request; the one that had no answer says why. */
const cameOf = ({ status, failure }: Asked): string => failure ?? (status === null ? 'no answer' : String(status));

const isBad = ({ status, failure }: Asked): boolean => failure !== undefined || (status ?? 0) >= 400;

const Bar = ({ asked, wholeMs }: { readonly asked: Asked; readonly wholeMs: number }) => {
  const { startMs, durationMs } = asked;
  const said = `from ${shownMs(startMs)} on, ${durationMs === null ? 'not over when the step was' : `for ${shownMs(durationMs)}`}`;
  const share = (ms: number): string => `${wholeMs === 0 ? 0 : (100 * ms) / wholeMs}%`;
  const width = durationMs === null ? share(wholeMs - startMs) : share(durationMs);
  return (
    <span class="phases" role="img" aria-label={said} title={said}>
      <span class="swatch line-0" style={{ width, marginLeft: share(startMs) }} />
    </span>
  );
};

/** Requests over the time of the step. */
const Waterfall = ({ requests, leftOut }: Pick<Page, 'requests' | 'leftOut'>) => {
  const wholeMs = Math.max(0, ...requests.map(endOf));
  return (
    <Scrolled class="numbers runs" label="Requests">
      <table class="figures texts">
        <Heads columns={['Request', 'Type', 'Came', 'Bytes', 'When']} />
        <tbody>
          {requests.map((asked, at) => (
            <tr key={`${at} ${asked.url}`}>
              <td>
                {asked.method} <bdi>{shownText(asked.url)}</bdi>
              </td>
              <td>{asked.type}</td>
              <td class={isBad(asked) ? 'text-error' : ''}>{shownText(cameOf(asked))}</td>
              <td class="number">{asked.bytes?.toLocaleString('en')}</td>
              <td>
                <Bar asked={asked} wholeMs={wholeMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {leftOut === 0 ? null : <p class="soft">{leftOut.toLocaleString('en')} more requests are not kept.</p>}
    </Scrolled>
  );
};

export const SteppedPage = ({ page }: { readonly page: Page }) => {
  const { url, vitals, requests, leftOut, errors } = page;
  const said = shownVitals(vitals);
  return (
    <>
      <p>
        <bdi>{shownText(url)}</bdi>
        {said === '' ? '' : `: ${said}`}
      </p>
      {errors.length === 0 ? null : (
        <ul aria-label="Errors of the page">
          {errors.map((error, at) => (
            <li key={`${at} ${error}`} class="text-error">
              {shownText(error)}
            </li>
          ))}
        </ul>
      )}
      {requests.length === 0 && leftOut === 0 ? null : (
        <details>
          <summary>{requests.length + leftOut} requests</summary>
          <Waterfall requests={requests} leftOut={leftOut} />
        </details>
      )}
    </>
  );
};
