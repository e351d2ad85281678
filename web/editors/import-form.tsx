/** Texts that are imported, of files or written here; what becomes of them is told first. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CallError } from '../client/ask.ts';
import { Problem } from '../frame/standing.tsx';
import { Wrong } from './field.tsx';
import { LinesInput } from './inputs.tsx';

export interface ImportedFile {
  readonly name: string;
  readonly source: string;
}

export const ImportForm = ({
  language,
  accept,
  isMany = false,
  isRunning,
  error,
  problem,
  run,
  children,
}: {
  /** What is written: `YAML`. */
  readonly language: string;
  /** Endings of the names of files. */
  readonly accept: string;
  /** Whether several files are taken at once. */
  readonly isMany?: boolean;
  readonly isRunning: boolean;
  readonly error: CallError | undefined;
  /** What of the texts cannot be sent. */
  readonly problem?: string | undefined;
  readonly run: (files: readonly ImportedFile[], isTrial: boolean) => Promise<void>;
  /** What more may be said of the import. */
  readonly children?: ComponentChildren;
}) => {
  const [files, setFiles] = useState<readonly ImportedFile[]>([]);
  const read = async (chosen: readonly File[]): Promise<void> =>
    setFiles(await Promise.all(chosen.map(async (file) => ({ name: file.name, source: await file.text() }))));
  const isEmpty = files.every(({ source }) => source.trim() === '');
  return (
    <>
      <div class="form">
        <label>
          {isMany ? 'Files' : 'A file'}{' '}
          <input
            type="file"
            accept={accept}
            multiple={isMany}
            onChange={({ currentTarget }) => void read([...(currentTarget.files ?? [])])}
          />
        </label>
        {files.length > 1 ? (
          <p role="status">{files.length} files were read.</p>
        ) : (
          <LinesInput
            label={`or its ${language}`}
            rows={8}
            value={files[0]?.source ?? ''}
            problem={problem}
            onChange={(source) => setFiles([{ name: '', source }])}
          />
        )}
        {children}
        <div class="act">
          <button type="button" class="plain" disabled={isEmpty || isRunning} onClick={() => void run(files, true)}>
            Tell what becomes of it
          </button>
          <button type="button" disabled={isEmpty || isRunning} onClick={() => void run(files, false)}>
            Import
          </button>
        </div>
        {files.length > 1 ? <Wrong message={problem} /> : null}
      </div>
      {problem === undefined ? <Problem error={error} /> : null}
    </>
  );
};
