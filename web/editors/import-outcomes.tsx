/** What becomes of each thing of a text that is imported. */
import { Link } from '../frame/link.tsx';
import { shownText } from '../frame/shown-text.tsx';
import { Heads } from '../lists/heads.tsx';
import { Scrolled } from '../lists/scrolled.tsx';

const outcomes = {
  created: 'new',
  changed: 'changed',
  replaced: 'replaced',
  unchanged: 'as it was',
  refused: 'refused',
} as const;

/** What became of one thing, or would. */
export interface ImportOutcome {
  /** In the text. */
  readonly at: string;
  readonly name: string | null;
  readonly outcome: keyof typeof outcomes;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  /** An address of the page, where there is one of it. */
  readonly to?: string | undefined;
}

export const ImportOutcomes = ({ of, wasDry }: { readonly of: readonly ImportOutcome[]; readonly wasDry: boolean }) => {
  const refused = of.filter(({ outcome }) => outcome === 'refused').length;
  return (
    <>
      <p role="status">
        {`Refused: ${refused} of ${of.length}.`}
        {wasDry ? ' Nothing was changed yet.' : ''}
      </p>
      <Scrolled class="scrolled" label="What becomes of each">
        <table class="figures texts">
          <Heads columns={['Where', 'Name', wasDry ? 'Would be' : 'Is', 'Why']} />
          <tbody>
            {of.map(({ at, name, outcome, problems, to }) => (
              <tr key={at}>
                <td>{shownText(at)}</td>
                <td>
                  {to === undefined ? <bdi>{shownText(name ?? '')}</bdi> : <Link to={to}>{shownText(name ?? at)}</Link>}
                </td>
                <td class={outcome === 'refused' ? 'text-error' : ''}>{outcomes[outcome]}</td>
                <td>
                  {problems.map(({ path, message }) => (
                    <p key={`${path} ${message}`} class="soft">
                      {path === '' ? null : <code>{shownText(path)}</code>} {shownText(message)}
                    </p>
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
