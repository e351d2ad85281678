/** Runbooks and other documents that are searched and cited: added as text or file, and deleted */
import { useState } from 'preact/hooks';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { Field, FieldProblem } from '../../editors/field.tsx';
import { TextInput } from '../../editors/inputs.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { setParams, toChangedUrl } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { addDocumentCall, deleteDocumentCall, documentsCall, type RunbookDocument } from './calls.ts';

type Format = RunbookDocument['format'];

const formats: Readonly<Record<Format, string>> = { markdown: 'Markdown', text: 'plain text', html: 'HTML' };

/** Returns the format of a file by its extension; other files are plain text. */
const detectFormat = (name: string): Format => {
  if (/\.(?:md|markdown)$/i.test(name)) return 'markdown';
  return /\.html?$/i.test(name) ? 'html' : 'text';
};

interface DocumentDraft {
  readonly title: string;
  readonly format: Format;
  readonly url: string;
  readonly content: string;
}

const emptyDocument: DocumentDraft = { title: '', format: 'markdown', url: '', content: '' };

/** Returns the text of a UTF-8 file; `undefined` for other files. */
const readText = async (file: Blob): Promise<string | undefined> => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
};

/** File input that copies the text of a file to the form, where it can be edited before it is saved. */
const FileInput = ({
  onRead,
}: {
  readonly onRead: (fileContents: Pick<DocumentDraft, 'format' | 'content'>) => void;
}) => {
  const [problem, setProblem] = useState<string>();
  const readFile = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const content = await readText(file);
    setProblem(content === undefined ? `${file.name} is not a text file in UTF-8` : undefined);
    if (content !== undefined) onRead({ format: detectFormat(file.name), content });
  };
  return (
    <Field label="File" problem={problem} hint="Markdown, plain text or HTML">
      <input
        type="file"
        accept=".md,.markdown,.txt,.html,.htm,text/*"
        onChange={({ currentTarget }) => void readFile(currentTarget.files?.[0])}
      />
    </Field>
  );
};

const DocumentForm = () => {
  const [action] = useState(() => new Action(addDocumentCall));
  const [draft, setDraft] = useState(emptyDocument);
  const [existingDocument, setExistingDocument] = useState<RunbookDocument>();
  const updateDraft = (fields: Partial<DocumentDraft>): void =>
    setDraft((currentDraft) => ({ ...currentDraft, ...fields }));
  const { error } = action;
  const findProblem = (name: string): string | undefined => error.value?.of(name);
  const add = async (): Promise<void> => {
    const { title, format, url, content } = draft;
    const response = await action.run({
      body: { format, content, ...(title === '' ? {} : { title }), ...(url === '' ? {} : { url }) },
    });
    if (response === undefined) return;
    refresh();
    if (response.isNew) setParams({ open: response.document.id });
    else setExistingDocument(response.document);
  };
  return (
    <div class="form">
      <FileInput onRead={updateDraft} />
      <label>
        Text{' '}
        <textarea
          rows={14}
          value={draft.content}
          spellcheck={false}
          aria-invalid={findProblem('content') !== undefined}
          onInput={({ currentTarget }) => updateDraft({ content: currentTarget.value })}
        />
      </label>
      <FieldProblem message={findProblem('content')} />
      <label>
        Format{' '}
        <select
          value={draft.format}
          onChange={({ currentTarget }) => updateDraft({ format: currentTarget.value as Format })}
        >
          {Object.entries(formats).map(([format, title]) => (
            <option key={format} value={format}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <TextInput
        label="Title"
        maxLength={200}
        value={draft.title}
        problem={findProblem('title')}
        hint="Default: the title in the document"
        onChange={(title) => updateDraft({ title })}
      />
      <TextInput
        label="URL"
        maxLength={2048}
        value={draft.url}
        problem={findProblem('url')}
        hint="https://…, linked from answers"
        onChange={(url) => updateDraft({ url })}
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void add()}>
          Save document
        </button>
        <p role="status">
          {existingDocument === undefined ? null : (
            <>
              This document already exists:{' '}
              <Link url={toChangedUrl({ open: existingDocument.id })}>{renderText(existingDocument.title)}</Link>
            </>
          )}
        </p>
        <ErrorMessage error={error.value} />
      </div>
    </div>
  );
};

const DeleteButton = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const [action] = useState(() => new Action(deleteDocumentCall));
  if (!isPermitted(deleteDocumentCall))
    return <p class="soft">{explainDenial(deleteDocumentCall, 'Deleting documents')}</p>;
  return (
    <RemovalForm
      action={action}
      labels={['Delete', 'Delete permanently']}
      remove={() => action.run({ params: { id } })}
      onRemoved={onClose}
    />
  );
};

const DocumentDetails = ({ item }: { readonly item: RunbookDocument }) => (
  <>
    <Fields
      values={{
        format: formats[item.format],
        size: formatQuantity(item.bytes, 'By'),
        passages: item.passages,
        added: formatIsoTime(item.createdAt),
        'added by': item.addedBy,
      }}
    />
    {item.url === '' ? null : (
      <p>
        <a href={item.url} rel="noreferrer">
          {renderText(item.url)}
        </a>
      </p>
    )}
  </>
);

const DocumentPanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: RunbookDocument | undefined;
  readonly onClose: () => void;
}) => (
  <SidePanel label="Document" title={id === 'new' ? 'New document' : (item?.title ?? 'Document')} onClose={onClose}>
    {id === 'new' && isPermitted(addDocumentCall) ? (
      <DocumentForm />
    ) : item === undefined ? (
      <p>This document is not on the loaded pages.</p>
    ) : (
      <>
        <DeleteButton id={id} onClose={onClose} />
        <DocumentDetails item={item} />
      </>
    )}
  </SidePanel>
);

export const Documents = createListView({
  title: 'Documents',
  call: documentsCall,
  search: 'Search by title',
  choices: [{ name: 'format', label: 'Format', options: [['', 'all'], ...Object.entries(formats)] }],
  fixedParams: { sort: 'title' },
  emptyText: 'No documents yet. Added documents are searched and cited in answers.',
  toKey: ({ id }) => id,
  Tools: () =>
    isPermitted(addDocumentCall) ? (
      <button type="button" class="plain" onClick={() => setParams({ open: 'new' })}>
        Add document
      </button>
    ) : null,
  columns: {
    Document: ({ title }) => title,
    Format: ({ format }) => formats[format],
    Passages: ({ passages }) => passages,
    Size: ({ bytes }) => formatQuantity(bytes, 'By'),
    Added: ({ createdAt }) => formatIsoMinute(createdAt),
  },
  wideColumns: ['Passages', 'Size', 'Added'],
  numericColumns: ['Passages', 'Size'],
  ItemPanel: DocumentPanel,
});
