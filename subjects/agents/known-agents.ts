/** Tables of what is known about agents and hosts. A new agent, model provider or registry is an entry. */

export interface KnownAgent {
  /** Stable name, part of the IDs of agents */
  readonly name: string;
  readonly title: string;
  /** Names of its program, without folder and extension */
  readonly programs: readonly string[];
  /** Parts of the path of its installation */
  readonly installations: readonly string[];
  /** Beginnings of its HTTP header `User-Agent`, in lower case */
  readonly userAgents: readonly string[];
  /** Folders and files in which it stores its own state, as parts of paths */
  readonly stateFiles: readonly string[];
  /** Hosts of its maker that it contacts by itself. A leading dot matches subdomains. */
  readonly hosts: readonly string[];
}

export const knownAgents: readonly KnownAgent[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    programs: ['claude', 'claude-code'],
    installations: ['@anthropic-ai/claude-code', '/claude/versions/'],
    userAgents: ['claude-cli', 'claude-code'],
    stateFiles: ['/.claude/', '/.claude.json', '/claude-cli-nodejs/', '/tmp/claude-'],
    hosts: ['.anthropic.com', '.claude.ai', 'claude.ai', 'claude.com', '.claude.com', '.statsig.com', '.sentry.io'],
  },
  {
    name: 'codex',
    title: 'Codex',
    programs: ['codex', 'codex-cli'],
    installations: ['@openai/codex', '/codex-rs/'],
    userAgents: ['codex_cli_rs', 'codex-cli', 'codex'],
    stateFiles: ['/.codex/'],
    hosts: ['.openai.com', 'chatgpt.com', '.chatgpt.com'],
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    programs: ['gemini', 'gemini-cli'],
    installations: ['@google/gemini-cli'],
    userAgents: ['geminicli', 'gemini-cli'],
    stateFiles: ['/.gemini/'],
    hosts: ['.googleapis.com', 'accounts.google.com', 'play.googleapis.com'],
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    programs: ['opencode'],
    installations: ['opencode-ai'],
    userAgents: ['opencode'],
    stateFiles: ['/.opencode/', '/.local/share/opencode/', '/.config/opencode/'],
    hosts: ['.opencode.ai', 'opencode.ai', 'models.dev'],
  },
  {
    name: 'aider',
    title: 'Aider',
    programs: ['aider'],
    installations: ['/aider_chat', 'aider-chat'],
    userAgents: ['aider'],
    stateFiles: ['/.aider', '.aider.'],
    hosts: ['aider.chat', '.posthog.com'],
  },
  {
    name: 'goose',
    title: 'Goose',
    programs: ['goose', 'goosed'],
    installations: ['/block/goose'],
    userAgents: ['goose'],
    stateFiles: ['/.config/goose/', '/.local/share/goose/'],
    hosts: [],
  },
  {
    name: 'cursor-agent',
    title: 'Cursor Agent',
    programs: ['cursor-agent'],
    installations: ['/cursor-agent/'],
    userAgents: ['cursor-agent'],
    stateFiles: ['/.cursor/'],
    hosts: ['.cursor.sh', '.cursor.com'],
  },
  {
    name: 'copilot-cli',
    title: 'GitHub Copilot CLI',
    programs: ['copilot'],
    installations: ['@github/copilot'],
    userAgents: ['githubcopilot', 'copilot-cli', 'github-copilot'],
    stateFiles: ['/.copilot/'],
    hosts: ['.githubcopilot.com', 'api.github.com'],
  },
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    programs: ['qwen', 'qwen-code'],
    installations: ['@qwen-code/qwen-code'],
    userAgents: ['qwencode', 'qwen-code'],
    stateFiles: ['/.qwen/'],
    hosts: ['.aliyuncs.com', '.qwen.ai'],
  },
  {
    name: 'openhands',
    title: 'OpenHands',
    programs: ['openhands'],
    installations: ['/openhands/'],
    userAgents: ['openhands'],
    stateFiles: ['/.openhands/'],
    hosts: [],
  },
  {
    name: 'openclaw',
    title: 'OpenClaw',
    programs: ['openclaw', 'openclaw-gateway', 'openclaw-gatewa'],
    installations: ['/openclaw/'],
    userAgents: ['openclaw'],
    stateFiles: ['/.openclaw/'],
    hosts: [],
  },
  {
    name: 'amp',
    title: 'Amp',
    programs: ['amp'],
    installations: ['@sourcegraph/amp'],
    userAgents: ['amp-cli'],
    stateFiles: ['/.amp/', '/.config/amp/'],
    hosts: ['ampcode.com', '.sourcegraph.com'],
  },
];

/** Hosts of models. A leading dot matches subdomains. */
export const modelHosts: readonly string[] = [
  ...['api.anthropic.com', 'api.openai.com', 'chatgpt.com', '.openai.azure.com', '.services.ai.azure.com'],
  ...['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'aiplatform.googleapis.com'],
  ...['-aiplatform.googleapis.com', 'api.mistral.ai', 'api.groq.com', 'api.deepseek.com', 'api.x.ai', 'api.cohere.com'],
  ...['openrouter.ai', 'api.together.xyz', 'api.fireworks.ai', 'api.perplexity.ai', 'api.cerebras.ai'],
  ...['api.githubcopilot.com', '.githubcopilot.com', 'dashscope.aliyuncs.com', 'api.moonshot.ai', 'api.z.ai'],
  ...['router.huggingface.co', '.cursor.sh', 'inference.ai.azure.com', 'models.github.ai'],
];
/** Hosts of models in a region: `bedrock-runtime.eu-central-1.amazonaws.com` */
const modelHostPattern = /^bedrock-runtime(?:-fips)?\.[a-z0-9-]{1,32}\.amazonaws\.com$/;

/** Registries of packages and code hosts that ordinary builds contact. A leading dot matches subdomains. */
export const registryHosts: readonly string[] = [
  ...['.npmjs.org', 'registry.yarnpkg.com', 'npm.pkg.github.com', 'nodejs.org', '.nodejs.org', 'deno.land'],
  ...['pypi.org', 'files.pythonhosted.org', '.pypi.org', 'conda.anaconda.org', 'repo.anaconda.com'],
  ...['crates.io', '.crates.io', 'static.rust-lang.org', 'index.crates.io', 'rubygems.org', '.rubygems.org'],
  ...['proxy.golang.org', 'sum.golang.org', 'go.dev', 'golang.org', 'storage.googleapis.com'],
  ...['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'services.gradle.org', 'packagist.org'],
  ...['github.com', '.github.com', '.githubusercontent.com', 'gitlab.com', 'bitbucket.org', 'codeload.github.com'],
  ...['registry-1.docker.io', 'auth.docker.io', 'production.cloudflare.docker.com', 'ghcr.io', 'quay.io', 'gcr.io'],
  ...['deb.debian.org', 'security.debian.org', 'archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'],
  ...['dl-cdn.alpinelinux.org', 'formulae.brew.sh', 'api.nuget.org', 'repo.packagist.org', 'hex.pm'],
  ...['cdn.playwright.dev', 'playwright.azureedge.net', 'developer.mozilla.org', 'fonts.googleapis.com'],
];

/** Returns whether a list contains a host. An entry with a leading dot or hyphen matches the end of the name. */
export const isListedHost = (hosts: readonly string[], host: string): boolean => {
  const name = host.toLowerCase();
  return hosts.some((entry) =>
    entry.startsWith('.') || entry.startsWith('-') ? name.endsWith(entry) : name === entry,
  );
};

export const isModelHost = (host: string): boolean => isListedHost(modelHosts, host) || modelHostPattern.test(host);

/** Returns the file name of a path, without the extension of a script or program. */
export const getProgramName = (path: string): string =>
  path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.(?:exe|m?js|cjs|ts|py|cmd)$/, '');

/** Programs that run a script, whose path is an argument. */
const interpreters = new Set(['node', 'bun', 'deno', 'python', 'python3', 'npx', 'uv', 'uvx', 'tsx', 'ruby']);
const interpreterPattern = /^python3(?:\.\d{1,2})?$/;

const isInterpreter = (program: string): boolean => interpreters.has(program) || interpreterPattern.test(program);

const maxArguments = 4;

const findByPath = (path: string): KnownAgent | undefined => {
  if (path === '') return undefined;
  const program = getProgramName(path);
  const lowercase = path.toLowerCase();
  return knownAgents.find(
    ({ programs, installations }) =>
      programs.includes(program) || installations.some((part) => lowercase.includes(part)),
  );
};

/**
 * Returns the agent that a process runs, by its program, or by the script that an interpreter runs. Other arguments do
 * not count: `docker run image claude` runs no agent on this host.
 */
export const findAgentByProcess = (program: string, command: string, threadName: string): KnownAgent | undefined => {
  const found = findByPath(program) ?? (program === '' ? findByPath(threadName) : undefined);
  if (found !== undefined) return found;
  const [first = '', ...rest] = command.split(/\s+/, maxArguments + 1);
  const main = program === '' ? first : program;
  if (program === '' && first !== '') {
    const byCommand = findByPath(first);
    if (byCommand !== undefined) return byCommand;
  }
  if (!isInterpreter(getProgramName(main))) return undefined;
  const script = rest.find((argument) => argument !== '' && !argument.startsWith('-'));
  return script === undefined ? undefined : findByPath(script);
};

export const findAgentByUserAgent = (userAgent: string): KnownAgent | undefined => {
  const lowercase = userAgent.toLowerCase();
  return lowercase === ''
    ? undefined
    : knownAgents.find(({ userAgents }) => userAgents.some((beginning) => lowercase.startsWith(beginning)));
};

export const findAgentByName = (name: string): KnownAgent | undefined =>
  knownAgents.find((agent) => agent.name === name);
