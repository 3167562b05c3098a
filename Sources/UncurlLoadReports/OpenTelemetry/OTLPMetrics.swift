import UncurlHTTP1
package import UncurlLoad
package import UncurlText

/// The counts of a current run for an OpenTelemetry collector: the body of a POST to `/v1/metrics` (OTLP/HTTP 1.x,
/// JSON). All sums and histograms are cumulative from a start time.
package enum OTLPMetrics {
    /// - Parameters:
    ///   - start: when the counts began, in nanoseconds since 1970.
    ///   - now: the time of the counts in nanoseconds since 1970.
    package static func document(_ metrics: Metrics, of plan: RunPlan, start: UInt64, now: UInt64) -> JSONTree {
        let times = Span(start: start, now: now)
        let measured = Measured(metrics, of: plan.work, in: 0)
        var all = times.families(.requests, measured)
        all += [
            times.sum(
                "volley.responses",
                unit: "{response}",
                metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }.map {
                    ([("http.response.status_code", "\($0)")], metrics.statuses[$0])
                }
            ),
            times.sum(
                "volley.errors",
                unit: "{error}",
                metrics.failures.sorted.map { failure, record in
                    (
                        [
                            ("phase", failure.phase.rawValue), ("error.type", failure.kind.rawValue),
                            ("detail", failure.detail),
                        ], record.count
                    )
                }
            ),
        ]
        all += times.families(.connections, measured) + times.families(.bytes, measured)
        switch plan.work {
        case .requests:
            // The series of all requests and of each name. An attribute distinguishes them.
            let named = zip(plan.requestNames.all, metrics.names).map { ([("volley.name", $0)], $1.latency) }
            let series = named.isEmpty ? [([], metrics.headline(plan.work))] : named
            all.append(times.histogram("http.client.request.duration", series))
        case .handshakes:
            all.append(times.histogram("tls.client.handshake.duration", [([], metrics.headline(plan.work))]))
        }
        for section in [Figure.Section.schedule, .stream, .websocket] where metrics.has(section.part) {
            all += times.families(section, measured)
        }
        let scope = JSONTree.object([("name", "volley"), ("version", .string(PackageVersion.text))])
        let resource = attributes([
            ("service.name", "volley"), ("service.version", PackageVersion.text), ("url.full", plan.url),
        ])
        return .object([
            (
                "resourceMetrics",
                .array([
                    .object([
                        ("resource", .object([("attributes", resource)])),
                        ("scopeMetrics", .array([.object([("scope", scope), ("metrics", .array(all))])])),
                    ])
                ])
            )
        ])
    }

    private static func attributes(_ pairs: [(String, String)]) -> JSONTree {
        .array(
            pairs.filter { !$0.1.isEmpty }.map { name, value in
                .object([("key", .string(name)), ("value", .object([("stringValue", .string(value))]))])
            }
        )
    }

    /// The times that all points of a push share. Integers of 64 bits are texts in Protobuf's JSON.
    private struct Span {
        let start: UInt64
        let now: UInt64

        func families(_ section: Figure.Section, _ measured: Measured) -> [JSONTree] {
            Figure.families(of: section).map { family in
                let (name, unit) = (family[0].dotted, family[0].unit)
                if let times = family[0].times { return histogram(name, [([], measured.metrics[times])]) }
                return sum(
                    name,
                    unit: unit,
                    family.map { figure in
                        (figure.label.map { [($0.name, $0.value)] } ?? [], figure.integer(measured) ?? 0)
                    }
                )
            }
        }

        func sum(_ name: String, unit: String, _ points: [(attributes: [(String, String)], count: UInt64)]) -> JSONTree
        {
            .object([
                ("name", .string(name)), ("unit", .string(unit)),
                (
                    "sum",
                    .object([
                        ("aggregationTemporality", .integer(2)), ("isMonotonic", .bool(true)),
                        (
                            "dataPoints",
                            .array(points.map { point($0.attributes, [("asInt", .string("\($0.count)"))]) })
                        ),
                    ])
                ),
            ])
        }

        /// A histogram in seconds, as OpenTelemetry's conventions require.
        func histogram(
            _ name: String,
            _ series: [(attributes: [(String, String)], times: LatencyHistogram)]
        ) -> JSONTree {
            .object([
                ("name", .string(name)), ("unit", "s"),
                (
                    "histogram",
                    .object([
                        ("aggregationTemporality", .integer(2)),
                        ("dataPoints", .array(series.map { point($0.attributes, buckets($0.times)) })),
                    ])
                ),
            ])
        }

        private func buckets(_ times: LatencyHistogram) -> [(String, JSONTree)] {
            let bounds = MetricsText.bounds
            var counts = [UInt64](repeating: 0, count: bounds.count + 1)
            times.forEachRecorded { value, count in
                counts[bounds.firstIndex { value <= $0 } ?? bounds.count] &+= count
            }
            var members: [(String, JSONTree)] = [
                ("count", .string("\(times.count)")), ("sum", .number(Double(times.sum) / 1e9)),
                ("bucketCounts", .array(counts.map { .string("\($0)") })),
                ("explicitBounds", .array(bounds.map { .number(Double($0) / 1e9) })),
            ]
            if let summary = times.summary(percentiles: []) {
                members.append(("min", .number(Double(summary.minimum) / 1e9)))
                members.append(("max", .number(Double(summary.maximum) / 1e9)))
            }
            return members
        }

        private func point(_ pairs: [(String, String)], _ members: [(String, JSONTree)]) -> JSONTree {
            let common: [(String, JSONTree)] = [
                ("attributes", OTLPMetrics.attributes(pairs)), ("startTimeUnixNano", .string("\(start)")),
                ("timeUnixNano", .string("\(now)")),
            ]
            return .object(common + members)
        }
    }
}
