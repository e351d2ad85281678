/** Installs Java programs from Maven artifacts. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute } from './definition.ts';

const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/** Copies the jars of `dependencies` (XML) and their transitive dependencies into `folder`. */
export const copyDependencies = async (dependencies: string, folder: string): Promise<void> => {
  const project = join(folder, 'project');
  await mkdir(project, { recursive: true });
  await writeFile(
    join(project, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${dependencies}</dependencies></project>\n`,
  );
  const pom = join(project, 'pom.xml');
  await execute('mvn', [
    '-B',
    '-q',
    '-f',
    pom,
    `${plugin}:copy-dependencies`,
    '-DincludeScope=runtime',
    `-DoutputDirectory=${folder}`,
  ]);
  await rm(project, { recursive: true });
};

/** Copies one artifact (`group:name:version:type:classifier`) into `folder`. */
export const copyArtifact = async (artifact: string, folder: string): Promise<void> => {
  await execute(
    'mvn',
    [
      '-B',
      '-q',
      `${plugin}:copy`,
      `-Dartifact=${artifact}`,
      `-DoutputDirectory=${folder}`,
      '-Dmdep.useBaseVersion=true',
    ],
    { cwd: folder },
  );
};
