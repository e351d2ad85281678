/** Outcomes of imported items */
import { Link } from '../frame/link.tsx';
import { shownText } from '../frame/shown-text.tsx';
import { Scrolled } from '../lists/scrolled.tsx';
import { TableHeader } from '../lists/table-header.tsx';

/** Actual or previewed outcome of one item */
export interface ImportOutcome {
  /** Location in the text, if known */
  readonly at?: string;
  readonly name: string;
  /** Outcome as in the API, or as text: `created`, `refused` */
  readonly outcome: string;
  /** Errors or losses, with their location */
  readonly reasons: readonly { readonly line?: number; readonly path?: string; readonly message: string }[];
  /** URL in the page, if there is one */
  readonly to?: string | undefined;
}

/** Counts the outcomes: `2 created, 1 refused`. */
const counted = (all: readonly ImportOutcome[]): string =>
  [...Map.groupBy(all, ({ outcome }) => outcome)].map(([outcome, of]) => `${of.length} ${outcome}`).join(', ');

const Because = ({ line, path = '', message }: ImportOutcome['reasons'][number]) => (
  <p class="soft">
    {line === undefined ? '' : `Line ${line}${path === '' ? ': ' : ', '}`}
    {path === '' ? null : (
      <>
        <code>{shownText(path)}</code>
        {': '}
      </>
    )}
    {shownText(message, { lines: true })}
  </p>
);

export const ImportOutcomes = ({
  of,
  wasTrial,
}: {
  readonly of: readonly ImportOutcome[];
  readonly wasTrial: boolean;
}) => {
  const arePlaced = of.some(({ at }) => at !== undefined);
  return (
    <>
      <p role="status">
        {wasTrial ? 'Preview only. This import would make these changes' : 'Import completed'}: {counted(of)}.
      </p>
      <Scrolled class="scrolled" label="Import results">
        <table class="figures texts">
          <TableHeader columns={[...(arePlaced ? ['Location'] : []), 'Name', 'Result', 'Reason']} />
          <tbody>
            {of.map(({ at, name, outcome, reasons, to }, index) => (
              <tr key={index}>
                {arePlaced ? <td>{shownText(at ?? '')}</td> : null}
                <td>{to === undefined ? <bdi>{shownText(name)}</bdi> : <Link to={to}>{shownText(name)}</Link>}</td>
                <td class={outcome === 'refused' ? 'text-error' : ''}>{outcome}</td>
                <td>
                  {reasons.map((one, which) => (
                    <Because key={which} {...one} />
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </>
  );
};
