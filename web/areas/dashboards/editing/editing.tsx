/** Dashboard editor: the grid with handles, the fields of one panel, and saving */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { CallError, request } from '../../../client/request.ts';
import { navigate, readParam, setParams, toArea } from '../../../frame/address.ts';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { renderText } from '../../../frame/shown-text.tsx';
import type { DashboardHead, DashboardResults } from '../board.ts';
import { cloneCall, type Dashboard, readCall, removeCall, saveCall, toDocument } from '../calls.ts';
import { PanelCard } from '../card.tsx';
import type { Cell, SectionLayout } from '../layout.ts';
import { SectionView } from '../parts.tsx';
import { type DashboardDraft, notifySaved } from './draft.ts';
import { Handles } from './handles.tsx';
import { type Conflict, mergeDocuments } from './merge.ts';
import { newPanelQuery, PanelEditor } from './panel.tsx';
import { Sections } from './sections.tsx';
import { VariablesEditor } from './variables.tsx';

interface EditingProps {
  readonly drafting: DashboardDraft;
  readonly dashboard: Dashboard;
  readonly board: DashboardResults;
  readonly head: DashboardHead | undefined;
  readonly range: { readonly from: number; readonly to: number };
  readonly marks: readonly number[];
  readonly part: SectionLayout;
}

const closeEditor = (): void => setParams({ edit: '', panel: '', sidePanel: '' });

/** Version that another user saved in the meantime, with its conflicts */
interface MergeConflict {
  readonly conflicts: readonly Conflict[];
  readonly theirs: Dashboard;
}

const ConflictForm = ({
  met: mergeConflict,
  onResolve,
}: {
  readonly met: MergeConflict;
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
    <p role="alert">Another user saved conflicting changes. All other changes of both users are preserved.</p>
    {mergeConflict.conflicts.map(({ key, what }) => (
      <p key={key}>
        <label>
          {renderText(what)}{' '}
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

const SaveControls = ({ drafting, dashboard }: Pick<EditingProps, 'drafting' | 'dashboard'>) => {
  const [action] = useState(() => new Action(saveCall));
  const [met, setMet] = useState<MergeConflict>();
  const [mergeError, setMergeError] = useState<CallError>();
  const { id } = dashboard;
  const finish = (): void => {
    setMet(undefined);
    closeEditor();
    notifySaved();
  };
  /** Merges the draft with the version that another user saved; saves the result unless there are unresolved conflicts. */
  const merge = async (choices?: Record<string, 'mine' | 'theirs'>): Promise<void> => {
    const [base, mine] = [drafting.base.peek(), drafting.draft.peek()];
    if (base === undefined || mine === undefined) return;
    try {
      const theirs = await request(readCall, { params: { id } });
      const { document, conflicts } = mergeDocuments(
        { base: base.document, mine, theirs: toDocument(theirs) },
        choices,
      );
      if (conflicts.length > 0 && choices === undefined) setMet({ conflicts, theirs });
      else if ((await action.run({ params: { id }, body: document, ifMatch: theirs.version })) !== undefined) finish();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setMergeError(error);
    }
  };
  const save = async (): Promise<void> => {
    const [base, body] = [drafting.base.peek(), drafting.draft.peek()];
    if (base === undefined || body === undefined) return;
    setMergeError(undefined);
    const isSaved = (await action.run({ params: { id }, body, ifMatch: base.version })) !== undefined;
    drafting.saveError.value = action.error.peek();
    if (isSaved) return finish();
    if (action.error.peek()?.status !== 412) return;
    action.error.value = undefined;
    await merge();
  };
  return (
    <>
      <button type="button" disabled={action.isRunning.value || !drafting.hasChanged.value} onClick={() => void save()}>
        Save
      </button>
      <button type="button" class="plain" onClick={closeEditor}>
        {drafting.hasChanged.value ? 'Discard changes' : 'Done'}
      </button>
      <ErrorMessage error={mergeError ?? action.error.value} />
      {(action.error.value?.details ?? []).map(({ path, message }) => (
        <p key={`${path} ${message}`} class="problem-text">
          {renderText(`${path}: ${message}`)}
        </p>
      ))}
      {met === undefined ? null : <ConflictForm met={met} onResolve={(choices) => void merge(choices)} />}
    </>
  );
};

const DashboardActions = ({ dashboard }: Pick<EditingProps, 'dashboard'>) => {
  const [removal] = useState(() => new Action(removeCall));
  const [copying] = useState(() => new Action(cloneCall));
  const { id, version, name } = dashboard;
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete the dashboard “${name}”?`)) return;
    if ((await removal.run({ params: { id }, ifMatch: version })) !== undefined) navigate(toArea('/dashboards'));
  };
  const copy = async (): Promise<void> => {
    const made = await copying.run({ params: { id }, body: {} });
    if (made !== undefined) navigate(toArea(`/dashboards/${made.id}`));
  };
  return (
    <>
      <button type="button" class="plain" onClick={() => void copy()}>
        Duplicate
      </button>
      <button type="button" class="plain" onClick={() => void remove()}>
        Delete
      </button>
      <ErrorMessage error={removal.error.value ?? copying.error.value} />
    </>
  );
};

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const DashboardSettings = ({ drafting }: Pick<EditingProps, 'drafting'>) => {
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
            onChange={({ currentTarget }) => drafting.change({ tags: splitList(currentTarget.value) })}
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
  queries: [newPanelQuery('A')],
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
  const open = drafting.panel(readParam('panel'));
  const add = (): void => {
    // The API adds defaults for the fields of a kind.
    const id = drafting.addPanel(newPanel as unknown as Parameters<typeof drafting.addPanel>[0]);
    setParams({ panel: id, sidePanel: '' });
  };
  const hasVariables = readParam('sidePanel') === 'variables';
  const cell = (each: Cell) => (
    <PanelCard
      cell={each}
      board={board}
      head={head}
      {...range}
      marks={marks}
      tools={
        <Handles cell={each} drafting={drafting} onOpen={() => setParams({ panel: each.panel.id, sidePanel: '' })} />
      }
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
          onClick={() => setParams({ sidePanel: hasVariables ? '' : 'variables', panel: '' })}
        >
          Variables
        </button>
        <SaveControls drafting={drafting} dashboard={dashboard} />
        <DashboardActions dashboard={dashboard} />
        {dashboard.source === null ? null : <p class="soft">Managed as code in {renderText(dashboard.source)}.</p>}
      </div>
      <DashboardSettings drafting={drafting} />
      <Sections drafting={drafting} />
      <div class={open === undefined && !hasVariables ? 'list' : 'list with-record'}>
        <div class="scrolled editing" id="panels">
          <SectionView part={part} head={head} renderCell={cell} />
        </div>
        {hasVariables ? (
          <VariablesEditor drafting={drafting} board={board} onClose={() => setParams({ sidePanel: '' })} />
        ) : open === undefined ? null : (
          <PanelEditor key={open.id} panel={open} drafting={drafting} onClose={() => setParams({ panel: '' })} />
        )}
      </div>
    </>
  );
};
