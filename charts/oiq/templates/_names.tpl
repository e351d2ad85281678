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
Every part of a cluster as JSON, by its name: role, command, the topics of its components by consumer group, and its values over those of
the size and the defaults. Deployments, scalers, budgets and policies are made of it. A processor or sink that the values name is a part of
its own; all others of the role are one part.
*/ -}}
{{- define "oiq.parts" -}}
{{- $root := . -}}
{{- $known := include "oiq.components" . | fromJson -}}
{{- $size := get .Values.sizes .Values.size -}}
{{- if not $size -}}{{- fail (printf "size %q is none of sizes: %s" .Values.size (keys .Values.sizes | sortAlpha | join ", ")) -}}{{- end -}}
{{- $parts := dict -}}
{{- range $role := list "receivers" "api" -}}
  {{- $values := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (get $size $role | default dict)) (deepCopy (index $root.Values $role)) -}}
  {{- $_ := set $parts $role (dict "role" $role "args" (list $role) "groups" (dict) "values" $values) -}}
{{- end -}}
{{- range $role, $one := dict "processors" "processor" "sinks" "sink" -}}
  {{- $given := index $root.Values $role -}}
  {{- $components := index $known $role -}}
  {{- $shared := dict -}}
  {{- range $name, $component := $components -}}
    {{- if not (hasKey $given $name) -}}
      {{- $_ := set $shared $name $component -}}
    {{- else -}}
      {{- $own := get $given $name | default dict -}}
      {{- if ne (toString (get $own "enabled")) "false" -}}
        {{- $values := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (get $size $one | default dict)) (deepCopy (omit $own "enabled")) -}}
        {{- $_ := set $parts (printf "%s-%s" $one $name) (dict "role" $role "args" (list $role $name) "groups" (dict $name $component) "values" $values) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if $shared -}}
    {{- $names := eq (len $shared) (len $components) | ternary (list) (keys $shared | sortAlpha) -}}
    {{- $values := mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (get $size $role | default dict)) (deepCopy (get $given "others" | default dict)) -}}
    {{- $_ := set $parts $role (dict "role" $role "args" (concat (list $role) $names) "groups" $shared "values" $values) -}}
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
