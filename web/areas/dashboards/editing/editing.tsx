/** Dashboard editor: the grid with handles, the fields of one panel, and saving */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { CallError, request } from '../../../client/request.ts';
import { change, go, inAddress, toArea } from '../../../frame/address.ts';
import { Problem } from '../../../frame/freshness.tsx';
import { shownText } from '../../../frame/shown-text.tsx';
import type { Board, Head } from '../board.ts';
import { cloneCall, type Dashboard, documentOf, readCall, removeCall, saveCall } from '../calls.ts';
import { Card } from '../card.tsx';
import type { Cell, Part } from '../layout.ts';
import { PartView } from '../parts.tsx';
import { type Drafting, saved } from './draft.ts';
import { Handles } from './handles.tsx';
import { type Conflict, merged } from './merge.ts';
import { bareQuery, EditPanel } from './panel.tsx';
import { Sections } from './sections.tsx';
import { EditVariables } from './variables.tsx';

interface EditingProps {
  readonly drafting: Drafting;
  readonly dashboard: Dashboard;
  readonly board: Board;
  readonly head: Head | undefined;
  readonly range: { readonly from: number; readonly to: number };
  readonly marks: readonly number[];
  readonly part: Part;
}

const leave = (): void => change({ edit: '', panel: '', sidePanel: '' });

/** Changes that others saved in the meantime, with their conflicts */
interface Met {
  readonly conflicts: readonly Conflict[];
  readonly theirs: Dashboard;
}

const Conflicts = ({
  met,
  onResolve,
}: {
  readonly met: Met;
  readonly onResolve: (choices: Record<string, 'mine' | 'theirs'>) => void;
}) => (
  <form
    class="problem"
    onSubmit={(event) => {
      event.preventDefault();
      const chosen = [...new FormData(event.currentTarget)] as [string, 'mine' | 'theirs'][];
      onResolve(Object.fromEntries(chosen));
    }}
  >
    <p role="alert">Another user saved conflicting changes. All other changes of both are preserved.</p>
    {met.conflicts.map(({ key, what }) => (
      <p key={key}>
        <label>
          {shownText(what)}{' '}
          <select name={key}>
            <option value="mine">My version</option>
            <option value="theirs">Saved version</option>
          </select>
        </label>
      </p>
    ))}
    <button type="submit">Save merged version</button>
  </form>
);

const Saving = ({ drafting, dashboard }: Pick<EditingProps, 'drafting' | 'dashboard'>) => {
  const [action] = useState(() => new Action(saveCall));
  const [met, setMet] = useState<Met>();
  const [failed, setFailed] = useState<CallError>();
  const { id } = dashboard;
  const done = (): void => {
    setMet(undefined);
    leave();
    saved();
  };
  /** Reads the changes of others; without conflicts, both are saved. */
  const merge = async (choices?: Record<string, 'mine' | 'theirs'>): Promise<void> => {
    const [base, mine] = [drafting.base.peek(), drafting.draft.peek()];
    if (base === undefined || mine === undefined) return;
    try {
      const theirs = await request(readCall, { params: { id } });
      const { document, conflicts } = merged({ base: base.document, mine, theirs: documentOf(theirs) }, choices);
      if (conflicts.length > 0 && choices === undefined) setMet({ conflicts, theirs });
      else if ((await action.run({ params: { id }, body: document, ifMatch: theirs.version })) !== undefined) done();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setFailed(error);
    }
  };
  const save = async (): Promise<void> => {
    const [base, body] = [drafting.base.peek(), drafting.draft.peek()];
    if (base === undefined || body === undefined) return;
    setFailed(undefined);
    const isSaved = (await action.run({ params: { id }, body, ifMatch: base.version })) !== undefined;
    drafting.refused.value = action.error.peek();
    if (isSaved) return done();
    if (action.error.peek()?.status !== 412) return;
    action.error.value = undefined;
    await merge();
  };
  return (
    <>
      <button type="button" disabled={action.isRunning.value || !drafting.hasChanged.value} onClick={() => void save()}>
        Save
      </button>
      <button type="button" class="plain" onClick={leave}>
        {drafting.hasChanged.value ? 'Discard changes' : 'Done'}
      </button>
      <Problem error={failed ?? action.error.value} />
      {(action.error.value?.details ?? []).map(({ path, message }) => (
        <p key={`${path} ${message}`} class="problem-text">
          {shownText(`${path}: ${message}`)}
        </p>
      ))}
      {met === undefined ? null : <Conflicts met={met} onResolve={(choices) => void merge(choices)} />}
    </>
  );
};

const Removing = ({ dashboard }: Pick<EditingProps, 'dashboard'>) => {
  const [removal] = useState(() => new Action(removeCall));
  const [copying] = useState(() => new Action(cloneCall));
  const { id, version, name } = dashboard;
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete the dashboard “${name}”?`)) return;
    if ((await removal.run({ params: { id }, ifMatch: version })) !== undefined) go(toArea('/dashboards'));
  };
  const copy = async (): Promise<void> => {
    const made = await copying.run({ params: { id }, body: {} });
    if (made !== undefined) go(toArea(`/dashboards/${made.id}`));
  };
  return (
    <>
      <button type="button" class="plain" onClick={() => void copy()}>
        Duplicate
      </button>
      <button type="button" class="plain" onClick={() => void remove()}>
        Delete
      </button>
      <Problem error={removal.error.value ?? copying.error.value} />
    </>
  );
};

const split = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const About = ({ drafting }: Pick<EditingProps, 'drafting'>) => {
  const draft = drafting.draft.value;
  if (draft === undefined) return null;
  return (
    <details class="about">
      <summary>Dashboard settings</summary>
      <div class="act">
        <label>
          Name{' '}
          <input
            value={draft.name}
            maxLength={256}
            onInput={({ currentTarget }) => drafting.change({ name: currentTarget.value })}
          />
        </label>
        <label>
          Folder{' '}
          <input
            value={draft.folder}
            maxLength={512}
            onInput={({ currentTarget }) => drafting.change({ folder: currentTarget.value })}
          />
        </label>
        <label>
          Tags{' '}
          <input
            defaultValue={draft.tags.join(', ')}
            onChange={({ currentTarget }) => drafting.change({ tags: split(currentTarget.value) })}
          />
        </label>
        <label>
          Visibility{' '}
          <select
            value={draft.visibility}
            onChange={({ currentTarget }) =>
              drafting.change({ visibility: currentTarget.value === 'private' ? 'private' : 'organization' })
            }
          >
            <option value="organization">Organization</option>
            <option value="private">Private</option>
          </select>
        </label>
        <label>
          Default range from{' '}
          <input
            defaultValue={draft.time.from}
            onChange={({ currentTarget }) => drafting.change({ time: { ...draft.time, from: currentTarget.value } })}
          />
        </label>
        <label>
          Description (Markdown){' '}
          <textarea
            rows={2}
            value={draft.description}
            onInput={({ currentTarget }) => drafting.change({ description: currentTarget.value })}
          />
        </label>
      </div>
    </details>
  );
};

const newPanel = {
  title: 'New panel',
  description: '',
  visual: { kind: 'time-series' },
  queries: [bareQuery('A')],
  formulas: [],
  transformations: [],
  fields: {},
  overrides: [],
  time: { isHidden: false },
  repeat: null,
  links: [],
  transparent: false,
};

export const Editing = (props: EditingProps) => {
  const { drafting, dashboard, board, head, range, marks, part } = props;
  const open = drafting.panel(inAddress('panel'));
  const add = (): void => {
    // The API adds defaults for the fields of a kind.
    const id = drafting.add(newPanel as unknown as Parameters<typeof drafting.add>[0]);
    change({ panel: id, sidePanel: '' });
  };
  const hasVariables = inAddress('sidePanel') === 'variables';
  const cell = (each: Cell) => (
    <Card
      cell={each}
      board={board}
      head={head}
      {...range}
      marks={marks}
      tools={<Handles cell={each} drafting={drafting} onOpen={() => change({ panel: each.panel.id, sidePanel: '' })} />}
    />
  );
  return (
    <>
      <div class="toolbar">
        <button type="button" onClick={add}>
          Add panel
        </button>
        <button
          type="button"
          class="plain"
          aria-pressed={hasVariables}
          onClick={() => change({ sidePanel: hasVariables ? '' : 'variables', panel: '' })}
        >
          Variables
        </button>
        <Saving drafting={drafting} dashboard={dashboard} />
        <Removing dashboard={dashboard} />
        {dashboard.source === null ? null : <p class="soft">Managed as code in {shownText(dashboard.source)}.</p>}
      </div>
      <About drafting={drafting} />
      <Sections drafting={drafting} />
      <div class={open === undefined && !hasVariables ? 'list' : 'list with-record'}>
        <div class="scrolled editing" id="panels">
          <PartView part={part} head={head} show={cell} />
        </div>
        {hasVariables ? (
          <EditVariables drafting={drafting} board={board} onClose={() => change({ sidePanel: '' })} />
        ) : open === undefined ? null : (
          <EditPanel key={open.id} panel={open} drafting={drafting} onClose={() => change({ panel: '' })} />
        )}
      </div>
    </>
  );
};
