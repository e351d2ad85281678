import { dedent } from '../../../schemas/text.ts';
import { createSdkEnvironment, createShellFile, type Snippet } from './snippet.ts';

const allSignals = ['logs', 'metrics', 'traces'] as const;

/** Snippets for languages with their OpenTelemetry SDK, with auto-instrumentation where it is available. */
export const languageSnippets: readonly Snippet[] = [
  {
    id: 'node',
    title: 'Node.js',
    kind: 'language',
    signals: allSignals,
    pieces: (endpoints) => [
      createShellFile('install', 'npm install @opentelemetry/api @opentelemetry/auto-instrumentations-node'),
      createSdkEnvironment(endpoints),
      createShellFile('run', 'node --require @opentelemetry/auto-instrumentations-node/register app.js'),
    ],
  },
  {
    id: 'python',
    title: 'Python',
    kind: 'language',
    signals: allSignals,
    pieces: (endpoints) => [
      createShellFile(
        'install',
        `
        pip install opentelemetry-distro opentelemetry-exporter-otlp
        opentelemetry-bootstrap -a install
        `,
      ),
      createSdkEnvironment(endpoints, 'export OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED=true'),
      createShellFile('run', 'opentelemetry-instrument python app.py'),
    ],
  },
  {
    id: 'java',
    title: 'Java',
    kind: 'language',
    signals: allSignals,
    pieces: (endpoints) => [
      createShellFile(
        'install',
        'curl -LO https://github.com/open-telemetry/opentelemetry-java-instrumentation/releases/latest/download/opentelemetry-javaagent.jar',
      ),
      createSdkEnvironment(endpoints),
      createShellFile('run', 'java -javaagent:opentelemetry-javaagent.jar -jar app.jar'),
    ],
  },
  {
    id: 'go',
    title: 'Go',
    kind: 'language',
    signals: allSignals,
    pieces: (endpoints) => [
      createShellFile(
        'install',
        'go get go.opentelemetry.io/otel/sdk go.opentelemetry.io/contrib/exporters/autoexport',
      ),
      createSdkEnvironment(endpoints),
      { name: 'main.go', language: 'go', text: goProgram },
    ],
  },
  {
    id: 'dotnet',
    title: '.NET',
    kind: 'language',
    signals: allSignals,
    pieces: (endpoints) => [
      createShellFile(
        'install',
        `
        dotnet add package OpenTelemetry.Extensions.Hosting
        dotnet add package OpenTelemetry.Exporter.OpenTelemetryProtocol
        dotnet add package OpenTelemetry.Instrumentation.AspNetCore
        dotnet add package OpenTelemetry.Instrumentation.Http
        `,
      ),
      createSdkEnvironment(endpoints),
      { name: 'Program.cs', language: 'csharp', text: dotnetProgram },
    ],
  },
  {
    id: 'ruby',
    title: 'Ruby',
    kind: 'language',
    signals: ['traces'],
    pieces: (endpoints) => [
      createShellFile(
        'install',
        'bundle add opentelemetry-sdk opentelemetry-exporter-otlp opentelemetry-instrumentation-all',
      ),
      createSdkEnvironment(endpoints),
      { name: 'config/initializers/opentelemetry.rb', language: 'ruby', text: rubyProgram },
    ],
  },
  {
    id: 'php',
    title: 'PHP',
    kind: 'language',
    signals: allSignals,
    pieces: (endpoints) => [
      createShellFile(
        'install',
        `
        pecl install opentelemetry
        composer require open-telemetry/sdk open-telemetry/exporter-otlp php-http/guzzle7-adapter
        `,
      ),
      createSdkEnvironment(endpoints, 'export OTEL_PHP_AUTOLOAD_ENABLED=true'),
      createShellFile('run', 'php -d extension=opentelemetry.so -S localhost:8000'),
    ],
  },
];

const goProgram = dedent(`
  package main

  import (
  	"context"
  	"log"

  	"go.opentelemetry.io/contrib/exporters/autoexport"
  	"go.opentelemetry.io/otel"
  	"go.opentelemetry.io/otel/sdk/trace"
  )

  func main() {
  	ctx := context.Background()
  	exporter, err := autoexport.NewSpanExporter(ctx) // reads OTEL_EXPORTER_OTLP_*
  	if err != nil {
  		log.Fatal(err)
  	}
  	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
  	defer provider.Shutdown(ctx)
  	otel.SetTracerProvider(provider)

  	_, span := otel.Tracer("first").Start(ctx, "hello")
  	span.End()
  }
`);

const dotnetProgram = dedent(`
  using OpenTelemetry;
  using OpenTelemetry.Metrics;
  using OpenTelemetry.Trace;

  var builder = WebApplication.CreateBuilder(args);
  builder.Services.AddOpenTelemetry() // reads OTEL_EXPORTER_OTLP_*
      .UseOtlpExporter()
      .WithTracing(tracing => tracing.AddAspNetCoreInstrumentation().AddHttpClientInstrumentation())
      .WithMetrics(metrics => metrics.AddAspNetCoreInstrumentation());
  builder.Logging.AddOpenTelemetry();

  var app = builder.Build();
  app.MapGet("/", () => "hello");
  app.Run();
`);

const rubyProgram = dedent(`
  require "opentelemetry/sdk"
  require "opentelemetry/exporter/otlp"
  require "opentelemetry/instrumentation/all"

  OpenTelemetry::SDK.configure { |config| config.use_all } # reads OTEL_EXPORTER_OTLP_*
`);
