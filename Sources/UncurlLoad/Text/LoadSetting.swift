/// A setting of a load test, by the name of its property.
public enum LoadSetting: String, Hashable, Sendable {
    /// Properties of ``LoadTest``.
    case url, method, headers, body, connections, threads, duration, requests, rate, stages, think, warmup, timeout,
        drain, authorities, isInsecure
    /// Settings that only volley has.
    case connectRate, sourceAddresses, connectionClose, connectTo, pipeline, template
}

/// The names of settings in messages: properties in a Swift program, flags on a command line.
package struct SettingNames: Sendable {
    private let flags: [LoadSetting: String]

    /// The names in a Swift program.
    package static let properties = SettingNames(flags: [:])

    /// - Parameter flags: The flags of those settings that a command line has.
    package init(flags: [LoadSetting: String]) { self.flags = flags }

    package subscript(setting: LoadSetting) -> String { flags[setting] ?? setting.rawValue }

    /// Returns ` (-t)`, to follow a word that already names the setting. Empty where there are no flags.
    package func flag(_ setting: LoadSetting) -> String { flags[setting].map { " (\($0))" } ?? "" }
}
