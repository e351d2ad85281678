/** The page at the end of a browser step: its URL, web vitals, requests and console messages */
import { shownText } from '../../frame/shown-text.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import type { Run } from './calls.ts';
import { shownMs } from './shown.tsx';

type Page = NonNullable<Run['steps'][number]['page']>;
type PageRequest = Page['requests'][number];

const vitalNames = {
  lcp: 'LCP',
  fcp: 'FCP',
  ttfb: 'TTFB',
  cls: 'CLS',
} as const;

/** Formats the known web vitals, in list order. */
const shownVitals = (vitals: Page['vitals']): string =>
  (Object.keys(vitalNames) as (keyof typeof vitalNames)[])
    .flatMap((name) => {
      const value = vitals[name];
      return value === undefined ? [] : [`${vitalNames[name]} ${name === 'cls' ? value : shownMs(value)}`];
    })
    .join(', ');

const endOf = ({ startMs, durationMs }: PageRequest): number => startMs + (durationMs ?? 0);

/** Returns the result of a request; without a response, the reason. */
const cameOf = ({ status, failure }: PageRequest): string =>
  failure ?? (status === null ? 'no answer' : String(status));

const isBad = ({ status, failure }: PageRequest): boolean => failure !== undefined || (status ?? 0) >= 400;

const Bar = ({ request, wholeMs }: { readonly request: PageRequest; readonly wholeMs: number }) => {
  const { startMs, durationMs } = request;
  const label = `from ${shownMs(startMs)} on, ${durationMs === null ? 'not finished when the step ended' : `for ${shownMs(durationMs)}`}`;
  const share = (ms: number): string => `${wholeMs === 0 ? 0 : (100 * ms) / wholeMs}%`;
  const width = durationMs === null ? share(wholeMs - startMs) : share(durationMs);
  return (
    <span class="phases" role="img" aria-label={label} title={label}>
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
        <TableHeader columns={['Request', 'Type', 'Status', 'Bytes', 'Timeline']} />
        <tbody>
          {requests.map((request, at) => (
            <tr key={`${at} ${request.url}`}>
              <td>
                {request.method} <bdi>{shownText(request.url)}</bdi>
              </td>
              <td>{request.type}</td>
              <td class={isBad(request) ? 'text-error' : ''}>{shownText(cameOf(request))}</td>
              <td class="number">{request.bytes?.toLocaleString('en')}</td>
              <td>
                <Bar request={request} wholeMs={wholeMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {leftOut === 0 ? null : <p class="soft">{leftOut.toLocaleString('en')} more requests were not stored.</p>}
    </Scrolled>
  );
};

export const SteppedPage = ({ page }: { readonly page: Page }) => {
  const { url, vitals, requests, leftOut, errors } = page;
  const vitalsText = shownVitals(vitals);
  return (
    <>
      <p>
        <bdi>{shownText(url)}</bdi>
        {vitalsText === '' ? '' : `: ${vitalsText}`}
      </p>
      {errors.length === 0 ? null : (
        <ul aria-label="Page errors">
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
