/// What can be set of a load test, by the name of its property.
public enum LoadSetting: String, Hashable, Sendable {
    /// Properties of ``LoadTest``.
    case url, method, headers, body, connections, threads, duration, requests, rate, stages, think, warmup, timeout,
        drain, authorities, isInsecure
    /// What only volley sets.
    case connectRate, sourceAddresses, connectionClose, connectTo, pipeline, template
}

/// What messages call settings: the library speaks of its properties, a command line of its flags.
package struct SettingNames: Sendable {
    private let flags: [LoadSetting: String]

    /// As a Swift program knows them.
    package static let properties = SettingNames(flags: [:])

    /// - Parameter flags: what a command line calls those settings that it has.
    package init(flags: [LoadSetting: String]) { self.flags = flags }

    package subscript(setting: LoadSetting) -> String { flags[setting] ?? setting.rawValue }

    /// ` (-t)` behind a word that names the property already; nothing where there are no flags.
    package func flag(_ setting: LoadSetting) -> String { flags[setting].map { " (\($0))" } ?? "" }
}
