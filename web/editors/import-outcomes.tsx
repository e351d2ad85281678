/** Outcomes of imported items */

import { renderText } from '../frame/display-text.tsx';
import { Link } from '../frame/link.tsx';
import { ScrollRegion } from '../lists/scroll-region.tsx';
import { TableHeader } from '../lists/table-header.tsx';

/** Actual or previewed outcome of one item */
export interface ImportOutcome {
  /** Location in the text, if known */
  readonly location?: string;
  readonly name: string;
  /** Outcome as the API returns it, for example `created` or `refused` */
  readonly outcome: string;
  /** Errors, or parts that were not imported, with their locations */
  readonly reasons: readonly { readonly line?: number; readonly path?: string; readonly message: string }[];
  /** URL of the imported item in the page, if it exists */
  readonly url?: string | undefined;
}

/** Returns the number of items by outcome, for example `2 created, 1 refused`. */
const countOutcomes = (outcomes: readonly ImportOutcome[]): string =>
  [...Map.groupBy(outcomes, ({ outcome }) => outcome)]
    .map(([outcome, { length }]) => `${length} ${outcome === 'placeholder' && length > 1 ? 'placeholders' : outcome}`)
    .join(', ');

const ReasonText = ({ line, path = '', message }: ImportOutcome['reasons'][number]) => (
  <p class="soft">
    {line === undefined ? '' : `Line ${line}${path === '' ? ': ' : ', '}`}
    {path === '' ? null : (
      <>
        <code>{renderText(path)}</code>
        {': '}
      </>
    )}
    {renderText(message, { lines: true })}
  </p>
);

export const ImportOutcomes = ({
  outcomes,
  isPreview,
}: {
  readonly outcomes: readonly ImportOutcome[];
  readonly isPreview: boolean;
}) => {
  const hasLocations = outcomes.some(({ location }) => location !== undefined);
  return (
    <>
      <p role="status">
        {isPreview ? 'Preview only. This import would make these changes' : 'Import completed'}:{' '}
        {countOutcomes(outcomes)}.
      </p>
      <ScrollRegion class="scrolled" label="Import results">
        <table class="figures texts">
          <TableHeader columns={[...(hasLocations ? ['Location'] : []), 'Name', 'Result', 'Reason']} />
          <tbody>
            {outcomes.map(({ location, name, outcome, reasons, url }, index) => (
              <tr key={index}>
                {hasLocations ? <td>{renderText(location ?? '')}</td> : null}
                <td>{url === undefined ? <bdi>{renderText(name)}</bdi> : <Link url={url}>{renderText(name)}</Link>}</td>
                <td class={outcome === 'refused' ? 'text-error' : ''}>{outcome}</td>
                <td>
                  {reasons.map((reason, reasonIndex) => (
                    <ReasonText key={reasonIndex} {...reason} />
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
};
