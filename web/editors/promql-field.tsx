/** Field of a PromQL expression: a plain text field until the editor with completion and highlighting is loaded */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PromqlEditor, PromqlEditorOptions } from './promql-editor.ts';

type EditorClass = typeof PromqlEditor;
let loadedEditor: EditorClass | undefined;

/** Returns the class of the editor once it is loaded. If that fails, the plain field remains. */
const useEditorClass = (): EditorClass | undefined => {
  const [editorClass, setEditorClass] = useState(() => loadedEditor);
  useEffect(() => {
    if (editorClass !== undefined) return;
    import('./promql-editor.ts').then(
      (module) => {
        loadedEditor = module.PromqlEditor;
        setEditorClass(() => module.PromqlEditor);
      },
      () => undefined,
    );
  }, []);
  return editorClass;
};

const Editor = ({
  EditorClass,
  initialCaret,
  options,
}: {
  readonly EditorClass: EditorClass;
  /** Position of the cursor if the plain field had the focus */
  readonly initialCaret: number | undefined;
  readonly options: PromqlEditorOptions;
}) => {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<PromqlEditor>(undefined);
  useLayoutEffect(() => {
    if (host.current === null) return;
    editor.current = new EditorClass(host.current, options);
    if (initialCaret !== undefined) editor.current.focus(initialCaret);
    return () => editor.current?.destroy();
  }, []);
  useLayoutEffect(() => editor.current?.update(options));
  return <div ref={host} class="promql-editor" />;
};

export const PromqlField = ({
  id,
  label,
  value,
  isInvalid,
  placeholder = 'sum by (job) (rate(http_requests_total[5m]))',
  rows = 2,
  onChange,
  onRun,
}: {
  readonly id?: string;
  /** Accessible name */
  readonly label: string;
  readonly value: string;
  readonly isInvalid: boolean;
  readonly placeholder?: string;
  /** Number of lines of the plain field */
  readonly rows?: number;
  readonly onChange: (expression: string) => void;
  /** Runs the query on Enter. Without it, Enter inserts a line break. */
  readonly onRun?: (expression: string) => void;
}) => {
  const EditorClass = useEditorClass();
  const plainField = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number>(undefined);
  // While the plain field is still rendered, notes its cursor for the editor that replaces it.
  if (plainField.current !== null)
    caret.current = document.activeElement === plainField.current ? plainField.current.selectionStart : undefined;
  if (EditorClass !== undefined)
    return (
      <Editor
        EditorClass={EditorClass}
        initialCaret={caret.current}
        options={{ id, label, text: value, placeholder, isInvalid, onChange, onRun }}
      />
    );
  return (
    <textarea
      ref={plainField}
      id={id}
      class="promql-plain"
      aria-label={label}
      rows={rows}
      value={value}
      maxLength={16_384}
      spellcheck={false}
      placeholder={placeholder}
      aria-invalid={isInvalid}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || onRun === undefined) return;
        event.preventDefault();
        onRun(event.currentTarget.value);
      }}
    />
  );
};
