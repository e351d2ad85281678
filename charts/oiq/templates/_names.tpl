{{- define "oiq.fullname" -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "oiq.name" .) .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name (include "oiq.name" .) | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "oiq.name" -}}{{ .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}{{- end -}}

{{- define "oiq.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "oiq.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* Of all pods of a release. */ -}}
{{- define "oiq.selector" -}}
app.kubernetes.io/name: {{ include "oiq.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "oiq.image" -}}
{{- $tag := .tag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- if and .root.Values.image.digest (not .tag) -}}{{ .root.Values.image.repository }}@{{ .root.Values.image.digest }}
{{- else -}}{{ .root.Values.image.repository }}:{{ $tag }}
{{- end -}}
{{- end -}}

{{- define "oiq.components" -}}{{ .Files.Get "files/components.json" }}{{- end -}}

{{- /*
Every part of a cluster as JSON, by its name: role, command, the topics of its components by consumer group, and its values over the
defaults. Deployments, scalers, budgets and policies are made of it.
*/ -}}
{{- define "oiq.parts" -}}
{{- $root := . -}}
{{- $known := include "oiq.components" . | fromJson -}}
{{- $parts := dict -}}
{{- range $role := list "receivers" "api" -}}
  {{- $own := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (index $root.Values $role)) -}}
  {{- $_ := set $parts $role (dict "role" $role "args" (list $role) "groups" (dict) "values" $own) -}}
{{- end -}}
{{- $processors := dict -}}
{{- range $name, $component := $known.processors -}}{{- if hasKey $root.Values.processors $name -}}{{- $_ := set $processors $name $component -}}{{- end -}}{{- end -}}
{{- if .Values.processorsTogether -}}
  {{- $chosen := eq (len $processors) (len $known.processors) | ternary (list) (keys $processors | sortAlpha) -}}
  {{- $_ := set $parts "processors" (dict "role" "processors" "args" (concat (list "processors") $chosen) "groups" $processors "values" $root.Values.defaults) -}}
{{- else -}}
  {{- range $name, $_ := $processors -}}
    {{- $own := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (index $root.Values.processors $name)) -}}
    {{- $_ := set $parts (printf "processor-%s" $name) (dict "role" "processors" "args" (list "processors" $name) "groups" (pick $processors $name) "values" $own) -}}
  {{- end -}}
{{- end -}}
{{- range $name, $given := .Values.sinks -}}
  {{- $own := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy ($given | default dict)) -}}
  {{- $chosen := pick $known.sinks $name -}}
  {{- if eq $name "others" -}}{{- range $sink, $topics := $known.sinks -}}
    {{- if not (hasKey $root.Values.sinks $sink) -}}{{- $_ := set $chosen $sink $topics -}}{{- end -}}
  {{- end -}}{{- end -}}
  {{- if $chosen -}}
    {{- $_ := set $parts (printf "sink-%s" $name) (dict "role" "sinks" "args" (concat (list "sinks") (keys $chosen | sortAlpha)) "groups" $chosen "values" $own) -}}
  {{- end -}}
{{- end -}}
{{- toJson $parts -}}
{{- end -}}

{{- /* Seconds between SIGTERM and SIGKILL: what preStop sleeps, what OIQ takes, and a little. */ -}}
{{- define "oiq.grace" -}}
{{- $default := (include "oiq.components" .root | fromJson).shutdownSeconds -}}
{{- $seconds := index .values.settings "SHUTDOWN_SECONDS" | default (index .root.Values.settings "SHUTDOWN_SECONDS") | default $default -}}
{{- .values.terminationGracePeriodSeconds | default (add (int $seconds) 10) -}}
{{- end -}}
