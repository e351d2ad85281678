/** Takes a text, of a file or typed, and tells first what becomes of each thing in it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CallError } from '../client/ask.ts';
import { Link } from '../frame/link.tsx';
import { shownText } from '../frame/shown-text.tsx';
import { Problem } from '../frame/standing.tsx';
import { Heads } from '../lists/heads.tsx';
import { Scrolled } from '../lists/scrolled.tsx';
import { Wrong } from './field.tsx';

export const TextImport = ({
  accept,
  label,
  problem,
  action,
  onRun,
  children,
}: {
  /** Files that can be chosen. */
  readonly accept: string;
  /** What is typed in place of a file. */
  readonly label: string;
  /** What is wrong with the text. */
  readonly problem: string | undefined;
  readonly action: {
    readonly isRunning: { readonly value: boolean };
    readonly error: { readonly value: CallError | undefined };
  };
  readonly onRun: (text: string, dryRun: boolean) => Promise<void>;
  /** Further fields. */
  readonly children?: ComponentChildren;
}) => {
  const [text, setText] = useState('');
  const isIdle = text !== '' && !action.isRunning.value;
  return (
    <>
      <div class="form">
        <label>
          A file{' '}
          <input
            type="file"
            accept={accept}
            onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(setText)}
          />
        </label>
        <label>
          {label}{' '}
          <textarea
            rows={8}
            spellcheck={false}
            value={text}
            aria-invalid={problem !== undefined}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <Wrong message={problem} />
        {children}
        <div class="act">
          <button type="button" class="plain" disabled={!isIdle} onClick={() => void onRun(text, true)}>
            Tell what becomes of it
          </button>
          <button type="button" disabled={!isIdle} onClick={() => void onRun(text, false)}>
            Import
          </button>
        </div>
      </div>
      {problem === undefined ? <Problem error={action.error.value} /> : null}
    </>
  );
};

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
