/** Dashboard editor: the grid with handles, the fields of one panel, and saving */
import { Plus, Redo2, Undo2, Variable } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { CallError, request } from '../../../client/request.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Confirmation } from '../../../components/confirmation.tsx';
import { navigate, readParam, setParams, toArea } from '../../../frame/address.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import type { DashboardContext, DashboardResults } from '../board.ts';
import {
  cloneDashboardCall,
  type Dashboard,
  deleteDashboardCall,
  getDashboardCall,
  replaceDashboardCall,
  toDocument,
} from '../calls.ts';
import { PanelCard } from '../card.tsx';
import type { Cell, SectionLayout } from '../layout.ts';
import { SectionView } from '../parts.tsx';
import { type DashboardDraft, notifySaved } from './draft.ts';
import { Handles } from './handles.tsx';
import { type Conflict, mergeDocuments } from './merge.ts';
import { PanelEditor } from './panel.tsx';
import { createPanelQuery } from './panel-queries.tsx';
import { Sections } from './sections.tsx';
import { VariablesEditor } from './variables.tsx';

interface EditingProps {
  readonly dashboardDraft: DashboardDraft;
  readonly dashboard: Dashboard;
  readonly board: DashboardResults;
  readonly head: DashboardContext | undefined;
  readonly range: { readonly from: number; readonly to: number };
  readonly annotationTimes: readonly number[];
  readonly section: SectionLayout;
}

const closeEditor = (): void => setParams({ edit: '', panel: '', sidePanel: '' });

/** Version that another user saved in the meantime, with its conflicts */
interface MergeConflict {
  readonly conflicts: readonly Conflict[];
  readonly theirs: Dashboard;
}

const ConflictForm = ({
  mergeConflict,
  onResolve,
}: {
  readonly mergeConflict: MergeConflict;
  readonly onResolve: (choices: Record<string, 'mine' | 'theirs'>) => void;
}) => (
  <form
    class="problem"
    onSubmit={(event) => {
      event.preventDefault();
      const choices = [...new FormData(event.currentTarget)] as [string, 'mine' | 'theirs'][];
      onResolve(Object.fromEntries(choices));
    }}
  >
    <p role="alert">Another user saved conflicting changes. All other changes of both users are preserved.</p>
    {mergeConflict.conflicts.map(({ key, description }) => (
      <p key={key}>
        <label>
          {renderText(description)}{' '}
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

const SaveControls = ({ dashboardDraft, dashboard }: Pick<EditingProps, 'dashboardDraft' | 'dashboard'>) => {
  const [action] = useState(() => new Action(replaceDashboardCall));
  const [mergeConflict, setMergeConflict] = useState<MergeConflict>();
  const [mergeError, setMergeError] = useState<CallError>();
  const { id } = dashboard;
  const finish = (): void => {
    setMergeConflict(undefined);
    closeEditor();
    notifySaved();
  };
  /** Merges the draft with the version that another user saved; saves the result unless there are unresolved conflicts. */
  const merge = async (choices?: Record<string, 'mine' | 'theirs'>): Promise<void> => {
    const [base, mine] = [dashboardDraft.base.peek(), dashboardDraft.draft.peek()];
    if (base === undefined || mine === undefined) return;
    try {
      const theirs = await request(getDashboardCall, { params: { id } });
      const { document, conflicts } = mergeDocuments(
        { base: base.document, mine, theirs: toDocument(theirs) },
        choices,
      );
      if (conflicts.length > 0 && choices === undefined) setMergeConflict({ conflicts, theirs });
      else if ((await action.run({ params: { id }, body: document, ifMatch: theirs.version })) !== undefined) finish();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setMergeError(error);
    }
  };
  const save = async (): Promise<void> => {
    const [base, body] = [dashboardDraft.base.peek(), dashboardDraft.draft.peek()];
    if (base === undefined || body === undefined) return;
    setMergeError(undefined);
    const isSaved = (await action.run({ params: { id }, body, ifMatch: base.version })) !== undefined;
    dashboardDraft.saveError.value = action.error.peek();
    if (isSaved) return finish();
    if (action.error.peek()?.status !== 412) return;
    action.error.value = undefined;
    await merge();
  };
  return (
    <>
      <button
        type="button"
        disabled={action.isRunning.value || !dashboardDraft.hasChanged.value}
        onClick={() => void save()}
      >
        Save
      </button>
      <button type="button" class="plain" onClick={closeEditor}>
        {dashboardDraft.hasChanged.value ? 'Discard changes' : 'Done'}
      </button>
      <ErrorMessage error={mergeError ?? action.error.value} />
      {(action.error.value?.details ?? []).map(({ path, message }) => (
        <p key={`${path} ${message}`} class="problem-text">
          {renderText(`${path}: ${message}`)}
        </p>
      ))}
      {mergeConflict === undefined ? null : (
        <ConflictForm mergeConflict={mergeConflict} onResolve={(choices) => void merge(choices)} />
      )}
    </>
  );
};

const DashboardActions = ({ dashboard }: Pick<EditingProps, 'dashboard'>) => {
  const [deleteAction] = useState(() => new Action(deleteDashboardCall));
  const [cloneAction] = useState(() => new Action(cloneDashboardCall));
  const { id, version, name } = dashboard;
  const remove = async (): Promise<void> => {
    if ((await deleteAction.run({ params: { id }, ifMatch: version })) !== undefined) navigate(toArea('/dashboards'));
  };
  const duplicate = async (): Promise<void> => {
    const clonedDashboard = await cloneAction.run({ params: { id }, body: {} });
    if (clonedDashboard !== undefined) navigate(toArea(`/dashboards/${clonedDashboard.id}`));
  };
  return (
    <>
      <button type="button" class="plain" onClick={() => void duplicate()}>
        Duplicate
      </button>
      <Confirmation
        label="Delete"
        title={<>Delete the dashboard “{renderText(name)}”?</>}
        confirmLabel="Delete dashboard"
        onConfirm={remove}
      />
      <ErrorMessage error={deleteAction.error.value ?? cloneAction.error.value} />
    </>
  );
};

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const DashboardSettings = ({ dashboardDraft }: Pick<EditingProps, 'dashboardDraft'>) => {
  const draft = dashboardDraft.draft.value;
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
            onInput={({ currentTarget }) => dashboardDraft.updateDocument({ name: currentTarget.value })}
          />
        </label>
        <label>
          Folder{' '}
          <input
            value={draft.folder}
            maxLength={512}
            onInput={({ currentTarget }) => dashboardDraft.updateDocument({ folder: currentTarget.value })}
          />
        </label>
        <label>
          Tags{' '}
          <input
            defaultValue={draft.tags.join(', ')}
            onChange={({ currentTarget }) => dashboardDraft.updateDocument({ tags: splitList(currentTarget.value) })}
          />
        </label>
        <label>
          Visibility{' '}
          <select
            value={draft.visibility}
            onChange={({ currentTarget }) =>
              dashboardDraft.updateDocument({
                visibility: currentTarget.value === 'private' ? 'private' : 'organization',
              })
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
            onChange={({ currentTarget }) =>
              dashboardDraft.updateDocument({ time: { ...draft.time, from: currentTarget.value } })
            }
          />
        </label>
        <label>
          Description (Markdown){' '}
          <textarea
            rows={2}
            value={draft.description}
            onInput={({ currentTarget }) => dashboardDraft.updateDocument({ description: currentTarget.value })}
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
  queries: [createPanelQuery('A')],
  formulas: [],
  transformations: [],
  fields: {},
  overrides: [],
  time: { isHidden: false },
  repeat: null,
  links: [],
  transparent: false,
};

/** Returns whether the browser undoes edits of the focused element by itself. */
const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

const UndoControls = ({ dashboardDraft }: Pick<EditingProps, 'dashboardDraft'>) => {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z' || isTextField(event.target)) return;
      event.preventDefault();
      if (event.shiftKey) dashboardDraft.redo();
      else dashboardDraft.undo();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [dashboardDraft]);
  return (
    <>
      <IconButton
        label="Undo"
        icon={Undo2}
        disabled={!dashboardDraft.canUndo.value}
        onClick={() => dashboardDraft.undo()}
      />
      <IconButton
        label="Redo"
        icon={Redo2}
        disabled={!dashboardDraft.canRedo.value}
        onClick={() => dashboardDraft.redo()}
      />
    </>
  );
};

/** Shows a panel of the grid, and moves the focus to it. */
const showPanel = (id: string): void => {
  requestAnimationFrame(() => {
    const button = document.querySelector<HTMLElement>(`[data-panel="${CSS.escape(id)}"]`);
    button?.scrollIntoView({ block: 'center' });
    button?.focus({ preventScroll: true });
  });
};

export const DashboardEditor = (props: EditingProps) => {
  const { dashboardDraft, dashboard, board, head, range, annotationTimes, section } = props;
  const openPanel = dashboardDraft.findPanel(readParam('panel'));
  const open = (id: string): void => setParams({ panel: id, sidePanel: '' });
  const add = (): void =>
    // The API adds defaults for the fields of a kind.
    open(dashboardDraft.addPanel(newPanel as unknown as Parameters<typeof dashboardDraft.addPanel>[0]));
  const showsVariables = readParam('sidePanel') === 'variables';
  const cardProps = { board, head, ...range, annotationTimes };
  const renderCell = (gridCell: Cell) => (
    <PanelCard
      cell={gridCell}
      {...cardProps}
      tools={<Handles cell={gridCell} drafting={dashboardDraft} onOpen={() => open(gridCell.panel.id)} />}
    />
  );
  return (
    <>
      <div class="toolbar">
        <Button icon={Plus} onClick={add}>
          Add panel
        </Button>
        <Button
          icon={Variable}
          aria-pressed={showsVariables}
          onClick={() => setParams({ sidePanel: showsVariables ? '' : 'variables', panel: '' })}
        >
          Variables
        </Button>
        <UndoControls dashboardDraft={dashboardDraft} />
        <SaveControls dashboardDraft={dashboardDraft} dashboard={dashboard} />
        <DashboardActions dashboard={dashboard} />
        {dashboard.source === null ? null : <p class="soft">Managed as code in {renderText(dashboard.source)}.</p>}
      </div>
      {openPanel === undefined ? (
        <>
          <DashboardSettings dashboardDraft={dashboardDraft} />
          <Sections dashboardDraft={dashboardDraft} />
          <div class={showsVariables ? 'list with-record' : 'list'}>
            <div class="scrolled editing" id="panels">
              <SectionView section={section} head={head} renderCell={renderCell} />
            </div>
            {showsVariables ? (
              <VariablesEditor
                dashboardDraft={dashboardDraft}
                board={board}
                onClose={() => setParams({ sidePanel: '' })}
              />
            ) : null}
          </div>
        </>
      ) : (
        <PanelEditor
          key={openPanel.id}
          panel={openPanel}
          dashboardDraft={dashboardDraft}
          section={section}
          {...cardProps}
          onClose={() => {
            setParams({ panel: '' });
            showPanel(openPanel.id);
          }}
          onDuplicate={() => {
            const { id: _, place, ...template } = openPanel;
            open(dashboardDraft.addPanel(template, place));
          }}
        />
      )}
    </>
  );
};
