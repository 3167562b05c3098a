internal import Foundation

extension NSCoder {
    /// Returns the object under a key; nil where there is none. swift-corelibs-foundation's `decodeObject(of:forKey:)`
    /// takes a missing key for a corrupt archive, and may end the process over it.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, _ key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    func response(_ key: String) -> URLResponse? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: [URLResponse.self, HTTPURLResponse.self], forKey: key) as? URLResponse
    }

    func string(_ key: String) -> String? { object(NSString.self, key) as String? }

    func number(_ key: String) -> NSNumber? { object(NSNumber.self, key) }

    func url(_ key: String) -> URL? { object(NSURL.self, key) as URL? }

    /// Returns a dictionary of strings; nil for any other object.
    func strings(_ key: String) -> [String: String]? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: [NSDictionary.self, NSString.self], forKey: key) as? [String: String]
    }
}
