/** Form that imports files or text, with a preview of the outcome of each item */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../client/action.ts';
import type { OperationDeclaration } from '../client/call.ts';
import { ErrorMessage } from '../frame/freshness.tsx';
import { FieldProblem } from './field.tsx';
import { type ImportOutcome, ImportOutcomes } from './import-outcomes.tsx';
import { MultilineInput } from './inputs.tsx';

export interface ImportedFile {
  readonly name: string;
  readonly source: string;
}

export const ImportForm = ({
  language,
  accept,
  allowsMultiple = false,
  action,
  problem,
  run,
  children,
}: {
  /** Language of the text, for example `YAML` */
  readonly language: string;
  /** File name extensions */
  readonly accept: string;
  /** Whether several files can be imported at once */
  readonly allowsMultiple?: boolean;
  readonly action: Pick<Action<OperationDeclaration>, 'isRunning' | 'error'>;
  /** Error of the text that prevents the import */
  readonly problem?: string | undefined;
  /** Runs the import or a preview, and returns the outcome of each item; `undefined` if there was no response */
  readonly run: (files: readonly ImportedFile[], isPreview: boolean) => Promise<readonly ImportOutcome[] | undefined>;
  /** Further options of the import */
  readonly children?: ComponentChildren;
}) => {
  const [files, setFiles] = useState<readonly ImportedFile[]>([]);
  const readFiles = async (selectedFiles: readonly File[]): Promise<void> =>
    setFiles(await Promise.all(selectedFiles.map(async (file) => ({ name: file.name, source: await file.text() }))));
  const [outcomes, setOutcomes] = useState<Parameters<typeof ImportOutcomes>[0]>();
  const runImport = async (isPreview: boolean): Promise<void> => {
    setOutcomes(undefined);
    const importOutcomes = await run(files, isPreview);
    setOutcomes(importOutcomes && { outcomes: importOutcomes, isPreview });
  };
  const isRunning = action.isRunning.value;
  const isEmpty = files.every(({ source }) => source.trim() === '');
  return (
    <>
      <div class="form">
        <label>
          {allowsMultiple ? 'Files' : 'File'}{' '}
          <input
            type="file"
            accept={accept}
            multiple={allowsMultiple}
            onChange={({ currentTarget }) => void readFiles([...(currentTarget.files ?? [])])}
          />
        </label>
        {files.length > 1 ? (
          <p role="status">{files.length} files were read.</p>
        ) : (
          <MultilineInput
            label={`Or paste ${language}`}
            rows={8}
            value={files[0]?.source ?? ''}
            problem={problem}
            onChange={(source) => setFiles([{ name: '', source }])}
          />
        )}
        {children}
        <div class="act">
          <button type="button" class="plain" disabled={isEmpty || isRunning} onClick={() => void runImport(true)}>
            Preview import
          </button>
          <button type="button" disabled={isEmpty || isRunning} onClick={() => void runImport(false)}>
            Import
          </button>
        </div>
        {files.length > 1 ? <FieldProblem message={problem} /> : null}
      </div>
      {problem === undefined ? <ErrorMessage error={action.error.value} /> : null}
      {outcomes === undefined ? null : <ImportOutcomes {...outcomes} />}
    </>
  );
};
