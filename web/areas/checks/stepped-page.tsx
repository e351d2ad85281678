/** The page at the end of a browser step: its URL, web vitals, requests and console messages */
import { renderText } from '../../frame/display-text.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import type { Run } from './calls.ts';
import { formatMs } from './check-format.tsx';

type Page = NonNullable<Run['steps'][number]['page']>;
type PageRequest = Page['requests'][number];

const vitalNames = {
  lcp: 'LCP',
  fcp: 'FCP',
  ttfb: 'TTFB',
  cls: 'CLS',
} as const;

/** Formats the known web vitals, in list order. */
const formatVitals = (vitals: Page['vitals']): string =>
  (Object.keys(vitalNames) as (keyof typeof vitalNames)[])
    .flatMap((name) => {
      const value = vitals[name];
      return value === undefined ? [] : [`${vitalNames[name]} ${name === 'cls' ? value : formatMs(value)}`];
    })
    .join(', ');

const getRequestEndMs = ({ startMs, durationMs }: PageRequest): number => startMs + (durationMs ?? 0);

/** Returns the result of a request; without a response, the reason. */
const formatResult = ({ status, failure }: PageRequest): string =>
  failure ?? (status === null ? 'no response' : String(status));

const hasFailed = ({ status, failure }: PageRequest): boolean => failure !== undefined || (status ?? 0) >= 400;

const RequestBar = ({ request, totalMs }: { readonly request: PageRequest; readonly totalMs: number }) => {
  const { startMs, durationMs } = request;
  const label = `started at ${formatMs(startMs)}, ${durationMs === null ? 'unfinished when the step ended' : `took ${formatMs(durationMs)}`}`;
  const toPercent = (ms: number): string => `${totalMs === 0 ? 0 : (100 * ms) / totalMs}%`;
  const width = durationMs === null ? toPercent(totalMs - startMs) : toPercent(durationMs);
  return (
    <span class="phases" role="img" aria-label={label} title={label}>
      <span class="swatch line-0" style={{ width, marginLeft: toPercent(startMs) }} />
    </span>
  );
};

/** Requests over the time of the step. */
const Waterfall = ({ requests, leftOut }: Pick<Page, 'requests' | 'leftOut'>) => {
  const totalMs = Math.max(0, ...requests.map(getRequestEndMs));
  return (
    <ScrollRegion class="numbers runs" label="Requests">
      <table class="figures texts">
        <TableHeader columns={['Request', 'Type', 'Status', 'Bytes', 'Timeline']} />
        <tbody>
          {requests.map((request, index) => (
            <tr key={`${index} ${request.url}`}>
              <td>
                {request.method} <bdi>{renderText(request.url)}</bdi>
              </td>
              <td>{request.type}</td>
              <td class={hasFailed(request) ? 'text-error' : ''}>{renderText(formatResult(request))}</td>
              <td class="number">{request.bytes?.toLocaleString('en')}</td>
              <td>
                <RequestBar request={request} totalMs={totalMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {leftOut === 0 ? null : <p class="soft">{leftOut.toLocaleString('en')} more requests were not stored.</p>}
    </ScrollRegion>
  );
};

export const StepPage = ({ page }: { readonly page: Page }) => {
  const { url, vitals, requests, leftOut, errors } = page;
  const vitalsText = formatVitals(vitals);
  return (
    <>
      <p>
        <bdi>{renderText(url)}</bdi>
        {vitalsText === '' ? '' : `: ${vitalsText}`}
      </p>
      {errors.length === 0 ? null : (
        <ul aria-label="Page errors">
          {errors.map((error, index) => (
            <li key={`${index} ${error}`} class="text-error">
              {renderText(error)}
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
