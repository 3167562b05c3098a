internal import Foundation

/// A request in a keyed archive, under FoundationNetworking's keys: an archive of its `NSURLRequest` can be read once
/// the unarchiver has been told the class (`setClass(_:forClassName:)`).
extension RequestValues {
    init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        self.init(
            url: coder.decodeObject(of: NSURL.self, forKey: "NS.url") as URL?,
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: Self.defaultTimeout
        )
        mainDocumentURL = coder.decodeObject(of: NSURL.self, forKey: "NS.mainDocumentURL") as URL?
        setMethod(coder.decodeObject(of: NSString.self, forKey: "NS.httpMethod") as String?)
        let fields = coder.decodeObject(of: [NSDictionary.self, NSString.self], forKey: "NS._allHTTPHeaderFields")
        dictionary = fields as? [String: String]
        func number(_ key: String) -> NSNumber? { coder.decodeObject(of: NSNumber.self, forKey: key) }
        cachePolicy = number("NS._cachePolicy").flatMap { .init(rawValue: $0.uintValue) } ?? cachePolicy
        explicitTimeout = number("NS._timeoutInterval")?.doubleValue
        networkServiceType = number("NS._networkServiceType").flatMap { .init(rawValue: $0.uintValue) } ?? .default
        allowsCellularAccess = number("NS._allowsCellularAccess")?.boolValue ?? true
        allowsExpensiveNetworkAccess = number("NS._allowsExpensiveNetworkAccess")?.boolValue ?? true
        allowsConstrainedNetworkAccess = number("NS._allowsConstrainedNetworkAccess")?.boolValue ?? true
        httpShouldHandleCookies = number("NS._httpShouldHandleCookies")?.boolValue ?? true
        httpShouldUsePipelining = number("NS._httpShouldUsePipelining")?.boolValue ?? true
        if coder.containsValue(forKey: "NS.httpBody") {
            httpBody = unsafe coder.withDecodedUnsafeBufferPointer(forKey: "NS.httpBody") { octets in
                unsafe octets.map { unsafe Data(buffer: $0) }
            }
        }
    }

    func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url as NSURL?, forKey: "NS.url")
        coder.encode(mainDocumentURL as NSURL?, forKey: "NS.mainDocumentURL")
        coder.encode(httpMethod as NSString, forKey: "NS.httpMethod")
        coder.encode(dictionary as NSDictionary?, forKey: "NS._allHTTPHeaderFields")
        coder.encode(NSNumber(value: cachePolicy.rawValue), forKey: "NS._cachePolicy")
        // Without the key it is still the session's to choose.
        coder.encode(explicitTimeout.map { NSNumber(value: $0) }, forKey: "NS._timeoutInterval")
        coder.encode(NSNumber(value: networkServiceType.rawValue), forKey: "NS._networkServiceType")
        coder.encode(NSNumber(value: allowsCellularAccess), forKey: "NS._allowsCellularAccess")
        coder.encode(NSNumber(value: allowsExpensiveNetworkAccess), forKey: "NS._allowsExpensiveNetworkAccess")
        coder.encode(NSNumber(value: allowsConstrainedNetworkAccess), forKey: "NS._allowsConstrainedNetworkAccess")
        coder.encode(NSNumber(value: httpShouldHandleCookies), forKey: "NS._httpShouldHandleCookies")
        coder.encode(NSNumber(value: httpShouldUsePipelining), forKey: "NS._httpShouldUsePipelining")
        guard let httpBody else { return }
        unsafe httpBody.withUnsafeBytes { octets in
            let octets = unsafe octets.bindMemory(to: UInt8.self)
            unsafe coder.encodeBytes(octets.baseAddress, length: octets.count, forKey: "NS.httpBody")
        }
    }
}
