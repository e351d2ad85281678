/** File baselines: creation, contents, approval, retirement and deletion */
import { useState } from 'preact/hooks';
import type {
  baselineResource,
  captureFileBaseline,
  deleteFileBaseline,
  listBaselineFiles,
} from '../../../api/groups/siem/file-baseline.ts';
import { Action } from '../../client/action.ts';
import { declareCall, declareListCall, declareUpdateCall, type ResourceView } from '../../client/call.ts';
import { createNewButton } from '../../editors/form-state.tsx';
import { parseLines } from '../../editors/lines.ts';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Baseline = ResourceView<typeof baselineResource>;
type BaselineState = NonNullable<Baseline['state']>;

const createBaselineCall = declareCall<typeof captureFileBaseline>('POST', '/api/siem/fim/baselines');
const updateBaselineCall = declareUpdateCall<typeof baselineResource, { readonly state: BaselineState }>(
  '/api/siem/fim/baselines/{id}',
);
const deleteBaselineCall = declareCall<typeof deleteFileBaseline>('DELETE', '/api/siem/fim/baselines/{id}');
const listBaselineFilesCall = declareCall<typeof listBaselineFiles>('GET', '/api/siem/fim/baselines/{id}/files');

const CreateBaselineForm = () => {
  const [action] = useState(() => new Action(createBaselineCall));
  const create = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = {
      name: String(formData.get('name')),
      hosts: parseLines(String(formData.get('hosts'))),
      paths: parseLines(String(formData.get('paths'))),
    };
    const createdBaseline = await action.run({ body });
    if (createdBaseline === undefined) return;
    setParams({ open: createdBaseline.id });
    refresh();
  };
  return (
    <ActionForm action={action} label="Update from current files" onSubmit={create}>
      <div class="form">
        <label>
          Name <input name="name" required={true} maxLength={256} autocomplete="off" />
        </label>
        <label>
          Hosts, one per line, such as web-*(default: all hosts){' '}
          <textarea name="hosts" rows={2} cols={30} spellcheck={false} />
        </label>
        <label>
          Paths, one per line; files in subdirectories are included{' '}
          <textarea name="paths" rows={3} cols={30} required={true} spellcheck={false} />
        </label>
      </div>
    </ActionForm>
  );
};

/** Possible next states of a baseline */
const transitions: Readonly<Record<BaselineState, readonly (readonly [BaselineState, string])[]>> = {
  proposed: [['approved', 'Approve']],
  approved: [['retired', 'Retire']],
  retired: [['proposed', 'Propose again']],
};

const BaselineActions = ({
  baseline: { id, version, state = 'proposed' },
  onClose,
}: {
  readonly baseline: Baseline;
  readonly onClose: () => void;
}) => {
  const [changeAction] = useState(() => new Action(updateBaselineCall));
  const [deleteAction] = useState(() => new Action(deleteBaselineCall));
  if (!isPermitted(updateBaselineCall))
    return <p class="soft">{explainDenial(updateBaselineCall, 'Editing baselines')}</p>;
  const changeState = async (state: BaselineState): Promise<void> => {
    if ((await changeAction.run({ params: { id }, body: { state }, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <RemovalForm
      action={deleteAction}
      labels={['Delete', 'Delete permanently']}
      remove={() => deleteAction.run({ params: { id }, ifMatch: version })}
      onRemoved={onClose}
    >
      {transitions[state].map(([nextState, title]) => (
        <button
          key={nextState}
          type="button"
          disabled={changeAction.isRunning.value}
          onClick={() => void changeState(nextState)}
        >
          {title}
        </button>
      ))}
      <ErrorMessage error={changeAction.error.value} />
    </RemovalForm>
  );
};

const Files = ({ id, count }: { readonly id: string; readonly count: number }) => {
  const { response, error } = useQuery(listBaselineFilesCall, { params: { id }, query: {} });
  return (
    <>
      <h3>Files</h3>
      <ErrorMessage error={error} />
      <ul>
        {response?.items.map(({ path, states }) => (
          <li key={path}>
            <bdi>{renderText(path)}</bdi>
            {states.length === 1 ? '' : `, in ${states.length} states`}
          </li>
        ))}
      </ul>
      {response === undefined || response.items.length >= count ? null : (
        <p class="soft">And {count - response.items.length} more.</p>
      )}
    </>
  );
};

const resourceName = 'baseline';

export const Baselines = createListView({
  title: 'File baselines',
  call: declareListCall<typeof baselineResource>('/api/siem/fim/baselines'),
  emptyText: 'No file baselines yet.',
  toKey: ({ id }) => id,
  columns: {
    Baseline: ({ name }) => name,
    State: ({ state }) => state,
    Files: ({ files }) => files,
    Created: ({ capturedUntil }) => formatIsoTime(capturedUntil),
    Approved: ({ approvedAt }) => formatIsoTime(approvedAt),
  },
  wideColumns: ['Files', 'Created', 'Approved'],
  numericColumns: ['Files'],
  Tools: createNewButton(resourceName, createBaselineCall),
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Baseline | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Baseline" title={id === 'new' ? 'New baseline' : (item?.name ?? id)} onClose={onClose}>
      {id === 'new' ? <CreateBaselineForm /> : null}
      {item === undefined ? null : (
        <>
          <BaselineActions key={item.version} baseline={item} onClose={onClose} />
          <p>{renderText(item.note ?? '', { lines: true })}</p>
          <Fields
            values={{
              state: item.state,
              hosts: item.hosts?.join(', ') || 'all hosts',
              paths: item.paths.join(', '),
              'Approved SHA-256': item.contentHash,
              retired: formatIsoTime(item.retiredAt),
            }}
          />
          <Files id={id} count={item.files} />
        </>
      )}
    </SidePanel>
  ),
});
