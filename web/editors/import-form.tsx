/** Form for imports of files or typed text, with a preview of each item */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../client/action.ts';
import type { Declared } from '../client/call.ts';
import { Problem } from '../frame/freshness.tsx';
import { Wrong } from './field.tsx';
import { type ImportOutcome, ImportOutcomes } from './import-outcomes.tsx';
import { LinesInput } from './inputs.tsx';

export interface ImportedFile {
  readonly name: string;
  readonly source: string;
}

export const ImportForm = ({
  language,
  accept,
  isMany = false,
  action,
  problem,
  run,
  children,
}: {
  /** Language of the text: `YAML` */
  readonly language: string;
  /** File name extensions */
  readonly accept: string;
  /** Whether several files can be imported at once */
  readonly isMany?: boolean;
  readonly action: Pick<Action<Declared>, 'isRunning' | 'error'>;
  /** Why the texts cannot be sent */
  readonly problem?: string | undefined;
  /** Runs the import or a preview, and returns the outcome of each item; `undefined` if there was no response */
  readonly run: (files: readonly ImportedFile[], isTrial: boolean) => Promise<readonly ImportOutcome[] | undefined>;
  /** Further options of the import */
  readonly children?: ComponentChildren;
}) => {
  const [files, setFiles] = useState<readonly ImportedFile[]>([]);
  const read = async (chosen: readonly File[]): Promise<void> =>
    setFiles(await Promise.all(chosen.map(async (file) => ({ name: file.name, source: await file.text() }))));
  const [outcomes, setOutcomes] = useState<Parameters<typeof ImportOutcomes>[0]>();
  const runAs = async (wasTrial: boolean): Promise<void> => {
    setOutcomes(undefined);
    const of = await run(files, wasTrial);
    setOutcomes(of && { of, wasTrial });
  };
  const isRunning = action.isRunning.value;
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
          <button type="button" class="plain" disabled={isEmpty || isRunning} onClick={() => void runAs(true)}>
            Preview import
          </button>
          <button type="button" disabled={isEmpty || isRunning} onClick={() => void runAs(false)}>
            Import
          </button>
        </div>
        {files.length > 1 ? <Wrong message={problem} /> : null}
      </div>
      {problem === undefined ? <Problem error={action.error.value} /> : null}
      {outcomes === undefined ? null : <ImportOutcomes {...outcomes} />}
    </>
  );
};
